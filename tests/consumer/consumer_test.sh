#!/usr/bin/env bash
# consumer_test.sh BUILD COMPILER FLAGS: a program that knows only what is installed can be built and does its job.
set -euo pipefail
build=$1 compiler=$2 flags=$3
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/log"
if grep -rnE '#include <(rapidjson|nlohmann|tbb|oneapi|openssl|spdlog|CLI)' "$scratch/prefix/include"; then
  echo "a public header needs a library of the implementation's"
  exit 1
fi
for page in man/man1/dtypemut.1 bash-completion/completions/dtypemut zsh/site-functions/_dtypemut; do
  test -s "$scratch/prefix/share/$page"
done
"$scratch/prefix/bin/dtypemut" --version

cmake -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="$flags" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
"$scratch/build/consumer" "$here/graph.json" "$scratch/out.json"
diff "$here/expected.json" "$scratch/out.json"
"$scratch/prefix/bin/dtypemut" verify "$scratch/out.json" --target trn2
