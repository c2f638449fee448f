#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws the README's pictures again and compares them with those that are committed; the figures of the speed picture must
# stand on the peers' page. Usage: pictures.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash "$source/examples/pictures/draw.sh" "$work"
for picture in memory speed; do
  cmp "$work/$picture.svg" "$source/examples/pictures/$picture.svg" ||
    { echo "pictures.sh: $picture.svg is old: run bash examples/pictures/draw.sh" >&2; exit 1; }
  grep -qF "examples/pictures/$picture.svg" "$source/README.md"
done
n=0
while IFS=, read -r shape greedy beam batch; do
  grep -qE "^\| $shape \| ${greedy}x .*\| ${beam}x .*\| ${batch}x " "$source/tests/peers/README.md" ||
    { echo "pictures.sh: the figures of $shape are not on tests/peers/README.md" >&2; exit 1; }
  n=$((n + 1))
done < <(grep -v '^#' "$source/examples/pictures/speed.csv")
[ "$n" -ge 4 ]
