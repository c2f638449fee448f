#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the student in GOLDCREST_STUDENT_FOLDER (tests/convert/student.sh) on the emulated Cortex-M55, with its shortlist
# and without. Compares hashes and translate_firmware's texts with the host's, counts instructions a token, and prints
# the arena for 20 and 60 source tokens.
# Usage: real_student.sh WORK_FOLDER HOST_BUILD CMAKE_OPTION...
set -euo pipefail
work=$1 build=$2 converter=$2/converter/goldcrest-convert
shift 2
cd "$(dirname "$0")/../.."
mkdir -p "$work"

# convert NAME OPTION...: writes the student as NAME.gcst.
convert() { "$converter" --quiet "$GOLDCREST_STUDENT_FOLDER" -o "$work/$1.gcst" "${@:2}" > "$work/$1.txt"; }
for tokens in 20 60; do
  size=(--max-source "$tokens" --max-source-bytes $((5 * tokens)) --max-target $((5 * tokens / 2)) --encoder-rows 4)
  convert all "${size[@]}" --shortlist none
  convert listed "${size[@]}"
  for name in all listed; do
    echo "$tokens source tokens, $name: $("$build/examples/goldcrest-inspect" "$work/$name.gcst" | grep '^arena')"
  done
done
limits=(--max-source 64 --max-source-bytes 256 --max-target 64)
convert real_student "${limits[@]}" --shortlist none
convert real_student_listed "${limits[@]}"
for name in real_student real_student_listed; do
  "$build/tests/kernels/golden_hash" "$work/$name.gcst" tests/data/enfr/valid.tsv > "$work/$name.hash"
done
bash tests/boards/run_board.sh mps3-an547 "$work/board" "$build/tests/kernels/golden" "$converter" real_student \
  real_student_tests -D GOLDCREST_STUDENT_FILES="$work" \
  -D GOLDCREST_TRANSLATE_MODEL="$work/real_student_listed.gcst" "$@"
grep -h 'instructions a token' "$work/board/Testing/Temporary/LastTest.log"

printf '%s\n' 'Where is the station?' 'The weather is nice today, but it will rain tomorrow.' > "$work/lines"
"$build/examples/goldcrest-translate" "$work/real_student_listed.gcst" "$work/lines" > "$work/expected"
{ cat "$work/lines"; printf '\004'; } |
  cmake --build "$work/board" --target run_translate_firmware -- --quiet > "$work/console"
sed -n 's/   ([0-9]* ticks, .*//p' "$work/console" | cmp - "$work/expected" || { cat "$work/console"; exit 1; }
