#!/bin/sh
# Graphviz draws what --dot writes: every node and edge, with the names that the document has.
#
#   dot_test.sh DTYPEMUT TESTDATA
set -eu
command -v dot >/dev/null || { echo "no Graphviz here"; exit 77; }
dtypemut=$1
testdata=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# draw CASE OPTION...
draw() {
  graph=$testdata/run/$1/g.json
  shift
  "$dtypemut" run "$graph" --target trn2 --dtype bf16 --dry-run --quiet --dot "$scratch/g.dot" "$@" 2>/dev/null
  dot -Tsvg "$scratch/g.dot" >"$scratch/g.svg"
  for kind in node edge; do
    [ $kind = node ] && lines='^  n[0-9]* \[' || lines='^  n[0-9]* ->'
    written=$(grep -c "$lines" "$scratch/g.dot")
    drawn=$(grep -c "class=\"$kind\"" "$scratch/g.svg")
    [ "$written" -gt 0 ] && [ "$written" = "$drawn" ] || fail "$drawn of $written ${kind}s drawn"
  done
}

fail() {
  echo "$*" >&2
  exit 1
}

shows() {
  for text; do
    grep -qF -- "$text" "$scratch/g.svg" || fail "the picture does not show: $text"
  done
}

draw dot
shows 'float32 &#45;&gt; bfloat16' '[multi&#45;store]' 'as int32' 'tensor &#39;ps&#39; is in psum'
draw dot --policy joint
draw dot --dot-around mm
draw dot-hostile-names
shows '>back\slash\N<' '>trailing\<' '>line\nbreak<' '>&lt;b&gt;bold&lt;/b&gt;<' '>a&amp;lt;b<' '>&quot;quoted&quot;<' '>{a|b}<' \
  '>\n\l\G<' '>tab\x09and\x01<' '&lt;/script&gt;'
