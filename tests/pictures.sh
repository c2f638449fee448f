#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the pictures again and compares them. Makes the run of machines.csv on this machine, or with TRANSLATE "EMULATOR
# PROGRAM" on another; the firmware's row is compared with its page and its test. The figures of the speed picture must
# stand on the peers' page, and ARCHITECTURE.md names each stage.
# Usage: pictures.sh SOURCE CONVERT TRANSLATE [ROW]
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$1 convert=$2 translate=$3 machine=${4:-A laptop}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash "$source/examples/pictures/draw.sh" "$work"
for picture in machines speed; do
  cmp "$work/$picture.svg" "$source/examples/pictures/$picture.svg" || fail "$picture.svg is old: run draw.sh"
done
python3 "$source/tests/contrast.py" "$work"/*.svg || fail "a text has too little contrast"
grep -q pictures/machines.svg "$source/README.md" || fail "README.md does not show machines.svg"
grep -q pictures/speed.svg "$source/tests/peers/README.md" || fail "tests/peers/README.md does not show speed.svg"

rows=$source/examples/pictures/machines.csv
IFS=, read -r _ kernels _ file arena line < <(grep "^$machine" "$rows")
[ "$(grep -v '^#' "$rows" | cut -d, -f 3- | sort -u | wc -l)" -eq 1 ] || fail "the rows of machines.csv differ"
model=$work/model.gcst stats=$work/stats
"$convert" -q "$source/examples/models/enfr" -o "$model" > /dev/null
found=$($translate "$model" --max-source 64 --max-target 64 --stats 2> "$stats" <<< "Where is the station?")
[ "$found" = "$line" ] || fail "$machine prints $found, not $line"
grep -q "^arena $arena bytes, model $file bytes" "$stats" || fail "not $file and $arena bytes: $(cat "$stats")"
[ "$machine" = "A laptop" ] || grep -q "kernels $kernels," "$stats" || fail "not $kernels: $(cat "$stats")"
firmware="kernels $(sed -n 's/^A Cortex-M55[^,]*,\([^,]*\),.*/\1/p' "$rows"). Model $file bytes, arena $arena bytes."
grep -qF "$firmware" "$source/examples/translate_firmware/README.md" || fail "the firmware's page lacks: $firmware"
grep -qF "$line" "$source/tests/boards/sessions/translate_firmware.expected" || fail "the firmware prints another line"

for stage in $(sed -n '/^enum class Stage/,/^}/s/^  \(k[A-Za-z]*\).*/\1/p' "$source/engine/api/engine.h"); do
  grep -qF " $stage " "$source/ARCHITECTURE.md" || fail "the picture of ARCHITECTURE.md lacks stage $stage"
done
n=0
while IFS=, read -r shape greedy beam batch; do
  grep -qE "^\| $shape \| ${greedy}x .*\| ${beam}x .*\| ${batch}x " "$source/tests/peers/README.md" ||
    fail "the figures of $shape are not on tests/peers/README.md"
  n=$((n + 1))
done < <(grep -v '^#' "$source/examples/pictures/speed.csv")
[ "$n" -ge 4 ]
