#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a page's commands in their order in a fresh copy of the tree. It runs every block ```sh. Its output must have the
# lines of the block ```text that follows, in their order. A block ```c is saved to the file that the line before it
# names. The test command itself is left out.
# Usage: readme_commands.sh SOURCE WORK [PAGE]
set -euo pipefail
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd) page=${3:-README.md}
tree=$work/tree

bash "$source/tests/fresh_copy.sh" "$source" "$tree"
cd "$tree"

# run_block: runs the commands of the file `block`; their output goes to `printed` and to a log.
run_block() {
  grep -v '^bash tests/run.sh' "$work/block" >"$work/commands" || return 0
  echo "== $(head -n 1 "$work/commands")"
  if ! bash -euo pipefail "$work/commands" >"$work/printed" 2>"$work/errors"; then
    tail -n 40 "$work/printed" "$work/errors" >&2
    echo "readme_commands: failed: $(cat "$work/commands")" >&2
    exit 1
  fi
}

# expect_block: the lines of the file `block` occur in `printed` in this order. A line that ends in "..." needs only to
# match the beginning of one.
expect_block() {
  awk 'function fits(line, wanted) {
         if (wanted !~ /\.\.\.$/) return line == wanted
         return index(line, substr(wanted, 1, length(wanted) - 3)) == 1
       }
       NR == FNR { wanted[++n] = $0; next } at < n && fits($0, wanted[at + 1]) { ++at }
       END { if (at < n) { print "readme_commands: not printed: " wanted[at + 1]; exit 1 } }' "$work/block" "$work/printed" >&2 ||
    { tail -n 40 "$work/printed" >&2; exit 1; }
}

kind='' named='' n_blocks=0
while IFS= read -r line; do
  case "$kind:$line" in
    ':```sh' | ':```text' | ':```c')
      kind=${line#'```'}
      : >"$work/block"
      ;;
    'sh:```') run_block; kind='' n_blocks=$((n_blocks + 1)) ;;
    'text:```') expect_block; kind='' ;;
    'c:```')
      [ -n "$named" ] || { echo "readme_commands: no file is named before the C program" >&2; exit 1; }
      mkdir -p "$(dirname "$named")"
      cp "$work/block" "$named"
      kind=''
      ;;
    :*) if [[ "$line" =~ \`([a-z/]+\.c)\` ]]; then named=${BASH_REMATCH[1]}; fi ;;
    *) printf '%s\n' "$line" >>"$work/block" ;;
  esac
done <"$page"
[ "$n_blocks" -gt 0 ] || { echo "readme_commands: $page has no commands" >&2; exit 1; }
echo "readme_commands: $n_blocks blocks of $page"
