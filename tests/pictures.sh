#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the pictures of the README and of the peers' page again and compares them with those that are committed. Makes the
# run of machines.csv on this machine, or in an emulator of the Pi. The firmware's row is compared with its page and with
# the lines that the boards' tests expect of it. The figures of the speed picture must stand on the peers' page.
# Usage: pictures.sh SOURCE CONVERT TRANSLATE [MACHINE]   (TRANSLATE may begin with an emulator; MACHINE: a row's first word)
set -euo pipefail
source=$1 convert=$2 translate=$3 machine=${4:-A laptop}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "pictures.sh: $*" >&2; exit 1; }
bash "$source/examples/pictures/draw.sh" "$work"
for picture in machines:README.md speed:tests/peers/README.md; do
  name=${picture%:*}.svg
  cmp "$work/$name" "$source/examples/pictures/$name" || fail "$name is old: run bash examples/pictures/draw.sh"
  grep -qF "examples/pictures/$name" "$source/${picture#*:}" || fail "${picture#*:} does not show $name"
done

rows=$source/examples/pictures/machines.csv
IFS=, read -r _ kernels _ file arena line < <(grep "^$machine" "$rows") || fail "machines.csv has no row of $machine"
[ "$(grep -v '^#' "$rows" | cut -d, -f 3- | sort -u | wc -l)" -eq 1 ] || fail "the rows of machines.csv differ"
"$convert" -q "$source/examples/models/enfr" -o "$work/model.gcst" > /dev/null
[ "$(stat -c %s "$work/model.gcst")" -eq "$file" ] || fail "model.gcst has $(stat -c %s "$work/model.gcst") bytes, not $file"
echo "Where is the station?" |
  $translate "$work/model.gcst" --max-source 64 --max-target 64 --stats > "$work/line" 2> "$work/stats"
[ "$(cat "$work/line")" = "$line" ] || fail "$machine prints $(cat "$work/line"), not $line"
grep -q "^arena $arena bytes, model $file bytes" "$work/stats" || fail "not $arena bytes of arena: $(cat "$work/stats")"
[ "$machine" = "A laptop" ] || grep -q "kernels $kernels," "$work/stats" || fail "not $kernels: $(cat "$work/stats")"

IFS=, read -r _ kernels _ file arena line < <(grep "^A Cortex-M55" "$rows")
grep -qF "kernels $kernels. Model $file bytes, arena $arena bytes." "$source/examples/translate_firmware/README.md" ||
  fail "the firmware's page has other bytes"
grep -qF "$line" "$source/tests/boards/sessions/translate_firmware.expected" || fail "the firmware prints another line"

for stage in $(sed -n '/^enum class Stage/,/^}/s/^  \(k[A-Za-z]*\).*/\1/p' "$source/engine/api/engine.h"); do
  grep -qF " $stage " "$source/ARCHITECTURE.md" ||
    fail "the picture of ARCHITECTURE.md lacks stage $stage"
done

n=0
while IFS=, read -r shape greedy beam batch; do
  grep -qE "^\| $shape \| ${greedy}x .*\| ${beam}x .*\| ${batch}x " "$source/tests/peers/README.md" ||
    fail "the figures of $shape are not on tests/peers/README.md"
  n=$((n + 1))
done < <(grep -v '^#' "$source/examples/pictures/speed.csv")
[ "$n" -ge 4 ]
