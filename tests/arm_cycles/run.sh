#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints modelled times on Arm, as rows of boards/predictions.csv, and where the cycles go.
# Usage: bash tests/arm_cycles/run.sh --models [--floors] [--bytes-a-cycle N] [BUILD [MODEL...]]
#        bash tests/arm_cycles/run.sh --words [--floors] [CMAKE_OPTION...]
#   --models   whole translations and transcripts on Raspberry Pi 3, 4 and 5; BUILD is for 64-bit Arm [build/aarch64];
#              MODEL: some of base opus small tiny [all], with +all or +decoder for fine inputs, or NAME.gcst, converted
#   --words    a word of benchmark_firmware on Cortex-M7, M33 and M55, whose builds take the options
#   --floors   prints only rows that the table lacks; fails if there are any, leaves with 77 if that cannot be told
#   --bytes-a-cycle N   bytes that a core reads from memory in a cycle, in place of each board's own
# MODEL_FILES: the program of that name [built here]. GOLDCREST_CORTEXM_BUILD: the boards' builds [build/cortexm].
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/arm_cycles table=- bytes='' what='' code=2
fail() { echo "run.sh: $1" >&2; exit "$code"; }
while [ $# -gt 0 ]; do
  case $1 in
    --models | --words) what=${1#--} ;;
    --floors) table=boards/predictions.csv ;;
    --bytes-a-cycle) bytes=${2:?} && shift ;;
    -D* | [!-]*) break ;;
    *) fail "there is no option $1" ;;
  esac
  shift
done
[ -n "$what" ] || fail "needs --models or --words"
[ "$table" = - ] || [ "$what" = words ] || [ $# -eq 0 ] || fail "the floors cover only the preset's whole build"
[ "$table" = - ] && code=1 || code=77
compiler=aarch64-linux-gnu-g++ qemu=qemu-aarch64
[ "$what" = models ] || compiler=arm-none-eabi-g++ qemu=qemu-system-arm
version=$($compiler -dumpversion 2> /dev/null) || fail "needs $compiler"
[ "$table" = - ] || [ "${version%%.*}" = 12 ] || fail "the table is for GCC 12; this is GCC $version"
# Debian 13's qemu-aarch64 is linked statically and has no plugins.
$qemu --help 2> /dev/null | grep plugin > /dev/null || fail "needs a $qemu with plugins, such as Debian 12's"
code=1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cc -O2 -shared -fPIC -fvisibility=hidden "$here/tracer.c" -o "$work/tracer.so"
c++ -std=c++20 -O2 -I tests "$here"/{model_cycles,cores,decode,decode_thumb,simulate,trace}.cc -o "$work/model_cycles"

model_words() {
  local build=${GOLDCREST_CORTEXM_BUILD:-build/cortexm} core board architecture
  [ $# -gt 0 ] || set -- -D "GOLDCREST_CONVERT_EXECUTABLE=$PWD/build/host/converter/goldcrest-convert"
  while read -r core board architecture; do
    cmake --preset "$board" -B "$build/$board" "$@" > "$work/log" 2>&1 &&
      cmake --build "$build/$board" --target word_trace > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    qemu-system-arm -M "$board" -display none -monitor none -serial null -semihosting-config enable=on,target=native \
      -kernel "$build/$board/tests/boards/word_trace.elf" -plugin "$work/tracer.so,prefix=$work/$core" < /dev/null
    arm-none-eabi-objdump -D -z -b binary -m "$architecture" -M force-thumb --no-show-raw-insn "$work/$core.code" \
      > "$work/$core.listing"
    "$work/model_cycles" "$table" "$core" "$work/$core" || failed=1
  done << 'END'
M7 mps2-an500 armv7e-m
M55 mps3-an547 armv8.1-m.main
END
  "$work/model_cycles" "$table" M33 || failed=1
}

model_models() {
  local build=${1:-build/aarch64} kernels cpu core board_bytes model beam prefix prefixes
  [ $# -eq 0 ] || shift
  [ $# -gt 0 ] || set -- base small tiny opus
  [ "$table" = - ] || set -- base small tiny  # opus has base's layers
  [ "$build" != build/aarch64 ] || cmake --preset aarch64 > /dev/null
  cmake --build "$build" --target model_trace > /dev/null
  if [ -z "${MODEL_FILES:-}" ]; then
    cmake --preset host > /dev/null && cmake --build build/host --target model_files > /dev/null
    MODEL_FILES=build/host/tests/arm_cycles/model_files
  fi
  for model; do
    case $model in
      *.gcst) cp "$model" "$work/" ;;
      *) "$MODEL_FILES" "$work" "$model" ;;
    esac
  done
  while read -r core kernels cpu board_bytes; do
    prefixes=()
    mkdir "$work/$core"
    for model; do
      model=$(basename "$model" .gcst)
      for beam in 1 4; do
        prefix=$work/$core/$model.$beam
        prefixes+=("$prefix")
        qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "$cpu" -plugin "$work/tracer.so,prefix=$prefix" \
          "$build/tests/arm_cycles/model_trace" "$work/$model.gcst" "$kernels" $beam 32 64 > "$prefix.names"
        aarch64-linux-gnu-objdump -D -b binary -m aarch64 --no-show-raw-insn "$prefix.code" > "$prefix.listing"
      done
    done
    "$work/model_cycles" "$table" "$core" "${bytes:-$board_bytes}" "${prefixes[@]}" || failed=1
  done << 'END'
A53 arm_neon_a53 cortex-a53 2
A72 arm_neon cortex-a72 3
A76 arm_dotprod cortex-a76 3.8
END
}

"model_$what" "$@"
exit "${failed:-0}"
