#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The student in GOLDCREST_STUDENT_FOLDER (tests/convert/student.sh) on the emulated Cortex-M55: the host's hash, and
# translate_firmware's texts are the host's.
# Usage: real_student.sh WORK_FOLDER HOST_BUILD CMAKE_OPTION...
set -euo pipefail
work=$1 build=$2
shift 2
cd "$(dirname "$0")/../.."
fail() { echo "real_student.sh: $*" >&2; exit 1; }
mkdir -p "$work"

converter=$build/converter/goldcrest-convert limits=(--max-source 64 --max-source-bytes 256 --max-target 64)
"$converter" --quiet "$GOLDCREST_STUDENT_FOLDER" -o "$work/student.gcst" "${limits[@]}" > "$work/report.txt"
"$build/tests/kernels/golden_hash" "$work/student.gcst" tests/data/enfr/valid.tsv > "$work/student.hash"
bash tests/boards/run_board.sh mps3-an547 "$work/board" "$build/tests/kernels/golden" "$converter" real_student real_student_tests \
  -D GOLDCREST_STUDENT="$work/student" -D GOLDCREST_TRANSLATE_MODEL="$work/student.gcst" "$@"
grep -h 'instructions a token' "$work/board/Testing/Temporary/LastTest.log"

printf '%s\n' 'Where is the station?' 'The weather is nice today, but it will rain tomorrow.' > "$work/lines"
"$build/examples/goldcrest-translate" "$work/student.gcst" "$work/lines" > "$work/expected"
{ cat "$work/lines"; printf '\004'; } | cmake --build "$work/board" --target run_translate_firmware -- --quiet > "$work/console"
sed -n 's/   ([0-9]* ticks, .*//p' "$work/console" | cmp - "$work/expected" || { cat "$work/console"; fail "other texts than here"; }
