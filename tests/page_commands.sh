#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of the boards' and the examples' pages in a fresh copy of the tree: indented lines that begin with a
# program's name. Types one word to each firmware. Leaves out programs that talk to hardware, and the page of the
# Raspberry Pi, which has a test of its own.
# Usage: page_commands.sh SOURCE WORK [PAGE]...   (none: all)
set -euo pipefail
. "$(dirname "$0")/common.sh"
source=$(cd "$1" && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd) tree=$(cd "$2" && pwd)/tree n=0
pages=("${@:3}")
bash "$source/tests/fresh_copy.sh" "$source" "$tree"
cd "$tree"

# run COMMAND WANTED: the command succeeds, and prints the words WANTED if there are any.
run() {
  echo "+ $1"
  n=$((n + 1))
  printf 'goldcrest\n\004' | timeout 1800 bash -euo pipefail -c "$1" >"$work/$n.out" 2>"$work/$n.err" ||
    { tail -n 40 "$work/$n.out" "$work/$n.err" >&2; fail "failed: $1"; }
  [ -z "$2" ] || grep -qF "$2" "$work/$n.out" || { tail -n 40 "$work/$n.out" >&2; fail "'$2' is not printed: $1"; }
}

# Prints a page's commands, one on each line, without their comments.
commands_of() {
  sed -e ':more' -e '/\\$/ { N; s/\\\n *//; b more' -e '}' "$1" |
    sed -n -E 's/^    ((bash|cmake|cp|sed|qemu-system-[a-z0-9]+|arm-none-eabi-[a-z]+) .*)$/\1/p' | sed -E 's/ +#.*$//'
}

# The models and hashes that tests of other machines need.
make_models() {
  [ ! -e build/host ] || return 0
  run 'cmake --preset host' 'Build files'
  run 'cmake --build --preset host' ''
  run 'ctest --preset host -R golden_' '100% tests passed'
}

least=20
if [ ${#pages[@]} -gt 0 ]; then
  least=1
else
  make_models
  mapfile -t pages < <(ls boards/README.md examples/*/README.md boards/*/README.md | grep -v raspberry-pi)
fi
for page in "${pages[@]}"; do
  echo "== $page"
  board=$(basename "$(dirname "$page")")
  while read -r command; do
    case $command in
      qemu-system-*)
        program=build/firmware/$board/examples/firmware/pronounce_firmware.elf
        [ -e "$program" ] || run "bash examples/firmware/run.sh pronounce_firmware $board" 'Goldcrest 0.1.0 on'
        run "${command//PROGRAM.elf/$program}" 'G OW1 L D K R EH2 S T' ;;
      arm-none-eabi-*) run "${command//PROGRAM.elf/build/$board/examples/firmware/pronounce_firmware.elf}" '' ;;
      *benchmark_firmware*) run "$command" 'each generated token of it' ;;
      *superloop*) run "$command" 'all within 50 ms' ;;
      *run.sh*) run "$command" 'Goldcrest 0.1.0 on' ;;
      *--workflow*)
        make_models
        run "$command" '100% tests passed' ;;
      *) run "$command" '' ;;
    esac
  done < <(commands_of "$page")
done
[ "$n" -ge "$least" ] || fail "only $n commands are found"
echo "page_commands: $n commands of ${#pages[@]} pages"
