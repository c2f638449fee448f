#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of engine/DECODING.md ("    $ COMMAND") and compares what they print with the indented lines below
# them. Then runs the page's test program and compares the percentages of its table.
# Usage: decoding_page.sh SOURCE BUILD WORK
set -euo pipefail
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
rm -rf "$3"
mkdir -p "$3"
cd "$3"
ln -s "$source/examples" examples
PATH=$build/converter:$build/examples:$PATH
page=$source/engine/DECODING.md n=0
fail() { echo "decoding_page: $*" >&2; exit 1; }

# Prints each command and the lines that it must print, each set ends with a line "--".
sections_of() {
  awk '/^    \$ / { if (open) print "--"; print substr($0, 7); open = 1; next }
       open && /^    / { print substr($0, 5); next }
       open { print "--"; open = 0 }' "$page"
}

while read -r command; do
  wanted=""
  while read -r line && [ "$line" != -- ]; do wanted+=$line$'\n'; done
  printed=$(bash -euo pipefail -c "$command" && echo .) || fail "failed: $command"
  [ -z "$wanted" ] || [ "${printed%.}" = "$wanted" ] || fail "$command: printed '${printed%.}', the page says '$wanted'"
  n=$((n + 1))
done < <(sections_of)
[ "$n" -ge 6 ] || fail "only $n commands are found"

test_command=$(sed -n 's/.*`build\/host\(\/tests[^`]*\)`.*/\1/p' "$page")
printed=$($build$test_command) || fail "failed: $test_command"
while read -r percentage; do
  grep -qF "$percentage" <<<"$printed" || fail "$test_command does not print $percentage"
done < <(sed -n '/held-out paragraphs/,/^$/p' "$page" | grep -oE '[0-9.]+ %')
echo "decoding_page: $n commands"
