#!/bin/sh
# The code that reads, retypes and writes graphs, under valgrind: no invalid access, no decision on what was never
# written, nothing definitely lost. Not for builds with sanitizers.
#
#   valgrind_test.sh VALGRIND BUILD TESTDATA
set -eu
valgrind=$1
build=$2
testdata=$3
command -v "$valgrind" >/dev/null || { echo "valgrind is missing" >&2; exit 1; }
if nm "$build/dtypemut" | grep -q __asan_init; then
  echo "$build has sanitizers, which do not go with valgrind" >&2
  exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect STATUS COMMAND...; the command's own output matters only where it fails.
expect() {
  expected=$1
  shift
  status=0
  "$valgrind" --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    "$@" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
  [ "$status" = "$expected" ] && return
  echo "exit status $status, expected $expected: $*" >&2
  tail -n 60 "$scratch/stderr" >&2
  exit 1
}

dtypemut=$build/dtypemut
for policy in edge joint; do
  for graph in real/mnist run/example/mlp run/weights-safetensors/g run/weights-values/g run/weights-shared/g \
    run/dot-hostile-names/g; do
    expect 0 "$dtypemut" run "$testdata/$graph.json" --target trn2 --dtype bf16 --policy $policy -o "$scratch/out.json" \
      --stats "$scratch/stats" --remarks "$scratch/remarks" --sarif "$scratch/sarif" --audit "$scratch/audit" \
      --html "$scratch/html" --dot "$scratch/dot" --explain '*'
    expect 0 "$dtypemut" verify "$scratch/out.json" --target trn2
    expect 0 "$dtypemut" diff "$testdata/$graph.json" "$scratch/out.json"
  done
done
expect 4 "$dtypemut" diff "$testdata/real/mnist.json" "$testdata/run/dot/g.json"

# Malformed documents, and many options in one process.
expect 0 "$build/tests/run_fuzz" "$testdata/fuzz/run_fuzz"
