#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adds a kind of block: applies made_up_block.patch to a copy of the tree and compares the files that it touches with
# touched_files.txt. Then builds the copy's tests of layers, models and files, and runs them.
# Without BUILD, only checks that the patch applies.
# Usage: run.sh SOURCE [BUILD]
set -euo pipefail
source=$(cd "$1" && pwd)
folder=$source/tests/extend
if [ $# -eq 1 ]; then
  exec patch -d "$source" -p1 --fuzz=0 --forward --batch --dry-run < "$folder/made_up_block.patch"
fi
mkdir -p "$2"
build=$(cd "$2" && pwd)
tree=$build/tree
tests=(layers_test model_test pack_test)

fail() {
  echo "tests/extend: $1" >&2
  exit 1
}

# Prints the paths of the tree's files, each ended by a zero byte.
list_files() {
  if [ -e "$source/.git" ]; then
    git -C "$source" ls-files -z --cached --others --exclude-standard
  else
    (cd "$source" && find . -path ./build -prune -o -type f -print0)
  fi
}

rm -rf "$tree"
mkdir "$tree"
list_files | (cd "$source" && xargs -0 cp -p --parents -t "$tree")
patch -d "$tree" -p1 --fuzz=0 --forward --batch --quiet < "$folder/made_up_block.patch" ||
  fail "made_up_block.patch no longer applies: make its changes again, and a new patch from them"
perl "$tree/engine/schema/make_reader.pl" "$tree/engine/schema/model.fbs" > "$tree/engine/schema/model_reader_generated.h"

grep '^+++ b/' "$folder/made_up_block.patch" | cut -c 7- | LC_ALL=C sort > "$build/touched"
n_files=$(grep -vc '^tests/' "$build/touched")
echo "a new block touches $(wc -l < "$build/touched") files, $n_files without the tests:"
sed 's/^/  /' "$build/touched"
[ "$n_files" -le 7 ] || fail "a block may touch 7 files besides tests"
grep -v '^#' "$folder/touched_files.txt" | diff - "$build/touched" >&2 || fail "touched_files.txt lists other files"

quietly() {
  "$@" > "$build/log" 2>&1 || { tail -n 50 "$build/log" >&2; fail "failed: $*"; }
}
quietly cmake -G Ninja -S "$tree" -B "$build/tests" -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_WERROR=ON
quietly cmake --build "$build/tests" --target "${tests[@]}"
for name in "${tests[@]}"; do
  quietly "$(find "$build/tests/tests" -type f -name "$name")"
  echo "$name: $(grep PASSED "$build/log")"
done
