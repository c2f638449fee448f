#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Extracts the C program of examples/README.md, builds it with the C driver and only the library, and translates a line.
# Also compiles, as C99, the lines of use at the beginning of goldcrest.h.
# Usage: readme_program.sh SOURCE_DIR LIBRARY CONVERTER "C_COMPILER FLAGS"
set -euo pipefail
. "$(dirname "$0")/common.sh"
source_dir=$1 library=$2 converter=$3 compiler="$4 -I $1/engine/include"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$source_dir/examples/README.md" > "$work/program.c"
[ -s "$work/program.c" ] || fail "examples/README.md has no C program"
$compiler -std=c11 -Wall -Wextra -Werror "$work/program.c" "$library" -o "$work/program"
"$converter" --quiet "$source_dir/examples/models/enfr" -o "$work/enfr.gcst" >/dev/null
long=$(printf '%3000s' | tr ' ' a)
answer=$(printf 'Thank you.\n%s\n\nThank you.' "$long" | "$work/program" "$work/enfr.gcst" 2> "$work/messages")
[ "$answer" = $'Merci.\n\n\nMerci.' ] || fail "expected 'Merci.', two blank lines, 'Merci.'; found '$answer'"
said() { [ "$(cat "$work/messages")" = "$1" ] || fail "expected '$1', found: $(cat "$work/messages")"; }
said "input too long for the limits: text: more bytes than limits.max_source_bytes"
"$work/program" "$work" < /dev/null 2> "$work/messages" && fail "the program takes a folder for a model"
said "usage: program MODEL.gcst, a file that can be read"

header="$source_dir/engine/include/goldcrest/goldcrest.h"
cat > "$work/use.c" <<END
#include "goldcrest/goldcrest.h"
extern uint8_t model[1], arena[1];
int use(size_t model_bytes, char text[64], int64_t text_bytes, int32_t token, goldcrest_result result);
int use(size_t model_bytes, char text[64], int64_t text_bytes, int32_t token, goldcrest_result result) {
$(sed -n 's/^ \*     //p' "$header" | sed 's/sizeof text/64/')
}
END
grep -q goldcrest_step "$work/use.c" || fail "goldcrest.h does not begin with lines of use"
$compiler -std=c99 -pedantic -Wall -Wextra -Wno-unused-but-set-parameter -Werror -fsyntax-only "$work/use.c"
