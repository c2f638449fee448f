#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures cycles an instruction for a whole word on models of Cortex-M7 and M55. Fails if examples/predictions/
# figures.cc has other figures, exits with 77 if that cannot be told. Usage: bash tests/arm_cycles/words.sh
# [CMAKE_OPTION...]; the options and the boards' builds are cortexm.sh's.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/arm_cycles
fail() { echo "words.sh: $1" >&2; exit 77; }
version=$(arm-none-eabi-g++ -dumpversion 2> /dev/null) || fail "needs arm-none-eabi-g++"
grep -q "^# GCC ${version%.*}\$" "$here/cortexm_floors.txt" || fail "the figures are for another compiler; this is GCC $version"
qemu-system-arm --help 2> /dev/null | grep plugin > /dev/null || fail "needs a qemu-system-arm with plugins"
[ $# -gt 0 ] || set -- -D "GOLDCREST_CONVERT_EXECUTABLE=$PWD/build/host/converter/goldcrest-convert"
build=${GOLDCREST_CORTEXM_BUILD:-build/cortexm}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cc -O2 -shared -fPIC -fvisibility=hidden "$here/tracer.c" -o "$work/tracer.so"
c++ -std=c++20 -O2 -I tests "$here"/{word_cycles,cores,cores_m,decode,decode_thumb,simulate,trace}.cc -o "$work/word_cycles"

while read -r core board architecture; do
  cmake --preset "$board" -B "$build/$board" "$@" > "$work/log" 2>&1 &&
    cmake --build "$build/$board" --target word_trace > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  qemu-system-arm -M "$board" -display none -monitor none -serial null -semihosting-config enable=on,target=native \
    -kernel "$build/$board/tests/boards/word_trace.elf" -plugin "$work/tracer.so,prefix=$work/$core" < /dev/null
  arm-none-eabi-objdump -D -z -b binary -m "$architecture" -M force-thumb --no-show-raw-insn "$work/$core.code" \
    > "$work/$core.listing"
  "$work/word_cycles" "$work/$core" "$core" > "$work/figures"
  while read -r beam instructions cycles; do
    echo "$core, beam $beam: $instructions instructions, $cycles cycles each"
    grep -q "\"Cortex-$core\", $beam, [0-9]*, modelled($cycles)" examples/predictions/figures.cc ||
      { echo "words.sh: examples/predictions/figures.cc has another figure" && failed=1; }
  done < "$work/figures"
done << 'END'
M7 mps2-an500 armv7e-m
M55 mps3-an547 armv8.1-m.main
END
exit "${failed:-0}"
