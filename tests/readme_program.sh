#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Extracts the README's C program, builds it with the C driver against the library alone, and translates a line with it.
# Usage: readme_program.sh SOURCE_DIR LIBRARY CONVERTER "C_COMPILER FLAGS"
set -euo pipefail
source_dir=$1 library=$2 converter=$3 compiler=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/README.md" > "$work/program.c"
[ -s "$work/program.c" ] || { echo "README.md has no C program" >&2; exit 1; }
$compiler -std=c11 -Wall -Wextra -Werror -I "$source_dir/engine/include" "$work/program.c" "$library" -o "$work/program"
"$converter" --quiet "$source_dir/examples/models/enfr" -o "$work/enfr.gcst" >/dev/null
answer=$(echo "Thank you." | "$work/program" "$work/enfr.gcst")
[ "$answer" = "Merci." ] || { echo "expected 'Merci.', found '$answer'" >&2; exit 1; }
