#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows what growth costs: applies patches that add a kind of block, an input, a packing of weights and a rule of the
# search to one copy of the tree. Compares the files that each touches with touched_files.txt. Then builds the copy's
# tests and programs once, and runs them. Without BUILD, only checks that the patches apply.
# Usage: run.sh SOURCE [BUILD]
set -euo pipefail
source=$(cd "$1" && pwd)
folder=$source/tests/extend
if [ $# -eq 1 ]; then
  cd "$source"
  exec git apply --check <(cat "$folder"/{block,input,packing,rule}.patch)
fi
mkdir -p "$2"
build=$(cd "$2" && pwd)
tree=$build/tree

fail() {
  echo "tests/extend: $1" >&2
  exit 1
}

rm -rf "$tree" "$build/touched"
mkdir "$tree"
if [ -e "$source/.git" ]; then list=(git ls-files -z --cached --others --exclude-standard)
else list=(find . -path ./build -prune -o -type f -print0); fi
(cd "$source" && "${list[@]}" | xargs -0 cp -p --parents -t "$tree")
for limit in block:7 input:14 packing:14 rule:10; do  # files besides tests and pages; each needs the patches before it
  name=${limit%:*}
  patch -d "$tree" -p1 --fuzz=0 --forward --batch --quiet < "$folder/$name.patch" ||
    fail "$name.patch no longer applies: make its changes again, and a new patch from them"
  sed -n "s|^+++ b/|$name |p" "$folder/$name.patch" | LC_ALL=C sort >> "$build/touched"
  n_files=$(grep "^$name " "$build/touched" | grep -vc " tests/")
  echo "$name touches $n_files files besides tests"
  [ "$n_files" -le "${limit#*:}" ] || fail "$name may touch ${limit#*:} files"
done
grep -v '^#' "$folder/touched_files.txt" | diff - "$build/touched" >&2 || fail "touched_files.txt lists other files"
perl "$tree/engine/schema/make_reader.pl" "$tree/engine/schema/model.fbs" > "$tree/engine/schema/model_reader_generated.h"

quietly() {
  "$@" > "$build/log" 2>&1 || { tail -n 50 "$build/log" >&2; fail "failed: $*"; }
}
cd "$build"
tests=(layers_test model_test pack_test decoding_test)
quietly cmake -G Ninja -S "$tree" -B tests -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_WERROR=ON -DGOLDCREST_WHEEL=ON \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON
quietly cmake --build tests --target "${tests[@]}" goldcrest-translate goldcrest-inspect goldcrest_python
for name in "${tests[@]}"; do
  # decoding_test runs only the rules, which also write the files for rule.py.
  quietly "$(find tests/tests -type f -name "$name")" --gtest_filter="$([ $name = decoding_test ] && echo SearchRules)*"
  echo "$name: $(grep PASSED log)"
done
quietly python3 "$folder/rule.py" "$tree" tests
