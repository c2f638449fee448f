#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints multiply-accumulates a cycle, and instructions for one, of our linear kernels on models of Cortex-M7 and M55.
# Usage: bash tests/arm_cycles/cortexm.sh [--floors | --cmsis-nn FOLDER] [CMAKE_OPTION...]
#   --floors            fails if a figure of cortexm_floors.txt is not reached; exits with 77 if that cannot be told
#   --cmsis-nn FOLDER   a checkout of CMSIS-NN, whose functions are built and traced, too
#   CMAKE_OPTION        of the boards' builds, which are in GOLDCREST_CORTEXM_BUILD, else in build/cortexm: where the
#                       golden files and the converter are (tests/boards/run_board.sh); default: build/host
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/arm_cycles floors=() cmsis_nn='' code=1
fail() { echo "cortexm.sh: $1" >&2; exit "$code"; }
if [ "${1:-}" = --floors ]; then
  shift
  floors=("$here/cortexm_floors.txt") code=77
  version=$(arm-none-eabi-g++ -dumpversion 2> /dev/null) || fail "needs arm-none-eabi-g++"
  grep -q "^# GCC ${version%.*}\$" "${floors[0]}" || fail "the floors are for another compiler; this is GCC $version"
elif [ "${1:-}" = --cmsis-nn ]; then
  cmsis_nn=$(realpath -m "${2:-.}")
  [ -e "$cmsis_nn/Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c" ] || fail "$cmsis_nn is not a checkout of CMSIS-NN"
  shift $(($# < 2 ? $# : 2))
fi
[ -z "${1:-}" ] || [ "${1:0:2}" = -D ] ||
  { echo "usage: bash tests/arm_cycles/cortexm.sh [--floors | --cmsis-nn FOLDER] [CMAKE_OPTION...]" >&2; exit 2; }
qemu-system-arm --help 2> /dev/null | grep plugin > /dev/null || fail "needs a qemu-system-arm with plugins"
code=1
[ $# -gt 0 ] || set -- -D "GOLDCREST_CONVERT_EXECUTABLE=$PWD/build/host/converter/goldcrest-convert"
build=${GOLDCREST_CORTEXM_BUILD:-build/cortexm}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cc -O2 -shared -fPIC -fvisibility=hidden "$here/tracer.c" -o "$work/tracer.so"
c++ -std=c++20 -O2 -I tests "$here"/{cortexm_cycles,cores,cores_m,decode,decode_thumb,simulate,trace}.cc \
  -o "$work/cortexm_cycles"

while read -r core board architecture; do
  cmake --preset "$board" -B "$build/$board" -D GOLDCREST_CMSIS_NN="$cmsis_nn" "$@" > "$work/log" 2>&1 &&
    cmake --build "$build/$board" --target cortexm_trace > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  qemu-system-arm -M "$board" -display none -monitor none -serial stdio -semihosting-config enable=on,target=native \
    -kernel "$build/$board/tests/boards/cortexm_trace.elf" -plugin "$work/tracer.so,prefix=$work/$core" < /dev/null |
    tr -d '\r' > "$work/$core.names"
  arm-none-eabi-objdump -D -z -b binary -m "$architecture" -M force-thumb --no-show-raw-insn "$work/$core.code" \
    > "$work/$core.listing"
  "$work/cortexm_cycles" "$work/$core" "$core" "${floors[@]}" || failed=1
done << 'END'
M7 mps2-an500 armv7e-m
M55 mps3-an547 armv8.1-m.main
END
exit "${failed:-0}"
