#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows what growth costs: applies patches that add a kind of block, an input, a packing of weights and a rule of the
# search to one copy of the tree. Compares the files that each touches with touched_files.txt. Then builds the copy's
# tests and programs once, and runs them. Without BUILD, only checks that the patches apply.
# Usage: run.sh SOURCE [BUILD]
set -euo pipefail
name=tests/extend
. "$(dirname "$0")/../common.sh"
source=$(cd "$1" && pwd)
folder=$source/tests/extend
if [ $# -eq 1 ]; then
  cd "$source"
  exec git apply --check <(cat "$folder"/{block,input,packing,rule}.patch)
fi
mkdir -p "$2"
build=$(cd "$2" && pwd)
tree=$build/tree

rm -f "$build/touched"
bash "$source/tests/fresh_copy.sh" "$source" "$tree"
for limit in block:7 input:14 packing:14 rule:10; do  # files besides tests and pages; each needs the patches before it
  kind=${limit%:*}
  patch -d "$tree" -p1 --fuzz=0 --forward --batch --quiet < "$folder/$kind.patch" ||
    fail "$kind.patch no longer applies: make its changes again, and a new patch from them"
  sed -n "s|^+++ b/|$kind |p" "$folder/$kind.patch" | LC_ALL=C sort >> "$build/touched"
  n_files=$(grep "^$kind " "$build/touched" | grep -vc " tests/")
  echo "$kind touches $n_files files besides tests"
  [ "$n_files" -le "${limit#*:}" ] || fail "$kind may touch ${limit#*:} files"
done
grep -v '^#' "$folder/touched_files.txt" | diff - "$build/touched" >&2 || fail "touched_files.txt lists other files"
cd "$tree/engine/schema"
perl make_reader.pl model.fbs > model_reader_generated.h

quietly() {
  rm -f log
  logged log "$@"
}
cd "$build"
tests=(layers_test model_test pack_test decoding_test)
quietly cmake -G Ninja -S "$tree" -B tests -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_WERROR=ON -DGOLDCREST_WHEEL=ON \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON
quietly cmake --build tests --target "${tests[@]}" goldcrest-translate goldcrest-inspect goldcrest_python
for test in "${tests[@]}"; do
  # decoding_test runs only the rules, which also write the files for rule.py.
  quietly "$(find tests/tests -type f -name "$test")" --gtest_filter="$([ $test = decoding_test ] && echo SearchRules)*"
  echo "$test: $(grep PASSED log)"
done
quietly python3 "$folder/rule.py" "$tree" tests
