#!/usr/bin/env bash
# bash_completion_test.sh SCRIPT: bash takes the completion script, and it completes what it should.
set -u
script=$1
bash -n "$script" || exit 1
source "$script"
failures=0

# complete WORD... -- EXPECTED...: what completes the last word
complete_to() {
  COMP_WORDS=()
  while [ "$1" != -- ]; do
    COMP_WORDS+=("$1")
    shift
  done
  shift
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _dtypemut
  if [ "${COMPREPLY[*]}" != "$*" ]; then
    echo "${COMP_WORDS[*]}: expected '$*', found '${COMPREPLY[*]}'"
    failures=1
  fi
}

cd "$(mktemp -d)" || exit 1
trap 'rm -r "$PWD"' EXIT
mkdir folder
touch 'graph.json' 'a graph.json'

complete -p dtypemut >/dev/null || failures=1
complete_to dtypemut ver -- verify
complete_to dtypemut --vers -- --version
complete_to dtypemut run --auto-cast -- --auto-cast-type --auto-cast
complete_to dtypemut run --target ton -- tonga
complete_to dtypemut run --target = ton -- tonga
complete_to dtypemut run --policy = -- edge joint
complete_to dtypemut run --from bf1 -- bf16
complete_to dtypemut run --from fp32,bf -- fp32,bfloat16 fp32,bf16
complete_to dtypemut run gra -- graph.json
complete_to dtypemut run -o a -- 'a graph.json'
complete_to dtypemut run --threads '' --
complete_to dtypemut run verify --mutate -- --mutate-multi-users
complete_to dtypemut verify --mutate --
complete_to dtypemut diff graph.json g -- graph.json
complete_to dtypemut decode --field s -- size scalar-type
complete_to dtypemut decode BF -- BFLOAT16
exit $failures
