#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of pages in their order in a fresh copy of the tree. It runs every block ```sh. Its output must have
# the lines of the block ```text that follows, in their order. A block ```c is saved to the file that the line before it
# names. The test command itself is left out. Then runs the blocks once more, without pip: installed and compiled, each
# takes at most 60 s of a CPU.
# GOLDCREST_WALK=quick leaves out blocks with pip, which compiles everything once more. With GOLDCREST_WALK=whole it
# exits with 77 (skipped) if pip has no index; else it leaves out only these blocks.
# Usage: readme_commands.sh SOURCE WORK [PAGE]...
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
tree=$work/tree
pages=("${@:3}")
[ ${#pages[@]} -gt 0 ] || pages=(README.md)

bash "$source/tests/fresh_copy.sh" "$source" "$tree"
cd "$tree"

# run_block: runs the commands of the file `block`; their output goes to `printed` and to a log.
run_block() {
  local TIMEFORMAT='%0U %0S'
  is_skipped=''
  grep -vE "^bash tests/run.sh${again:+|pip install}" "$work/block" >"$work/commands" || return 0
  [[ ${GOLDCREST_WALK:-}$no_index != *quick ]] || ! grep -q '/pip install ' "$work/block" || is_skipped=yes
  [ -z "$is_skipped" ] || return 0
  echo "== $(head -n 1 "$work/commands")"
  if ! { time bash -euo pipefail "$work/commands" </dev/null >"$work/printed" 2>"$work/errors"; } 2>"$work/times"; then
    if grep -qE ' pip download |/pip install ' "$work/commands" &&
        grep -qi 'no matching distribution' "$work/errors"; then
      echo "   skipped: pip has no index here" && : >"$work/printed" && is_skipped=yes no_index=quick
      [ "${GOLDCREST_WALK:-}" != whole ] || exit 77
      return 0
    fi
    tail -n 40 "$work/printed" "$work/errors" >&2
    fail "failed: $(cat "$work/commands")"
  fi
  read -r user system <"$work/times"
  echo "   $((user + system)) s of a CPU"
  [ -z "$again" ] || [ $((user + system)) -le 60 ] || fail "too slow once compiled"
}

# expect_block: the lines of the file `block` occur in `printed` in this order. A line that ends in "..." needs only to
# match the beginning of one.
expect_block() {
  [ -z "$is_skipped" ] || return 0
  awk 'function fits(line, wanted) {
         if (wanted !~ /\.\.\.$/) return line == wanted
         return index(line, substr(wanted, 1, length(wanted) - 3)) == 1
       }
       NR == FNR { wanted[++n] = $0; next } at < n && fits($0, wanted[at + 1]) { ++at }
       END { if (at < n) { print "not printed: " wanted[at + 1]; exit 1 } }' "$work/block" "$work/printed" >&2 ||
    { tail -n 40 "$work/printed" >&2; exit 1; }
}

walk() {
  local kind='' named='' line
  while IFS= read -r line; do
    case "$kind:$line" in
      ':```sh' | ':```text' | ':```c')
        kind=${line#'```'}
        : >"$work/block" ;;
      'sh:```') run_block; kind='' n_blocks=$((n_blocks + 1)) ;;
      'text:```') expect_block; kind='' ;;
      'c:```')
        [ -n "$named" ] || fail "no file is named before the C program"
        mkdir -p "$(dirname "$named")"
        cp "$work/block" "$named"
        kind='' ;;
      :*) if [[ "$line" =~ \`([a-z/]+\.c)\` ]]; then named=${BASH_REMATCH[1]}; fi ;;
      *) printf '%s\n' "$line" >>"$work/block" ;;
    esac
  done <"$1"
}

n_blocks=0 no_index=''
for again in '' yes; do
  for page in "${pages[@]}"; do
    echo "= $page${again:+, once more}"
    walk "$page"
  done
done
[ "$n_blocks" -ge $((2 * ${#pages[@]})) ] || fail "${pages[*]}: too few commands"
echo "readme_commands: $((n_blocks / 2)) blocks of ${#pages[@]} pages"
