#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the firmware of a board outside boards/ by the commands of examples/guides/own_board.md. Checks that it fits
# 256 KB of flash and 64 KB of RAM, and compares its output in QEMU with this machine's.
# Usage: own_board.sh BUILD_FOLDER CONVERTER TRANSLATOR
set -euo pipefail
build=$1 converter=$2 translator=$3
source=$(cd "$(dirname "$0")/../.." && pwd)

toolchain=(--toolchain "$source/toolchains/arm-none-eabi-cortex-m4f.cmake")
cmake -G Ninja -S "$source" -B "$build" "${toolchain[@]}" -D CMAKE_BUILD_TYPE=MinSizeRel -D GOLDCREST_TESTS=OFF \
  -D GOLDCREST_BOARD_DIR="$source/tests/boards/own_board" -D GOLDCREST_WERROR=ON \
  -D GOLDCREST_CONVERT_EXECUTABLE="$converter"
cmake --build "$build" --target pronounce_small_firmware

words=$build/words.txt
printf '%s\n' hello goldcrest transformer "don't" >"$words"
"$converter" --quiet "$source/examples/models/g2p-small" --max-target 33 -o "$build/g2p-small.gcst" >"$build/report.txt"
"$translator" --beam-size 4 "$build/g2p-small.gcst" "$words" >"$build/expected.txt"
# This board's UART loses input until the firmware has turned it on, so typing waits for the prompt.
typed() {
  local waited
  for waited in $(seq 600); do
    if grep -q '^> ' "$build/console.txt"; then break; fi
    sleep 0.1
  done
  cat "$words"
  printf '\004'
}
: >"$build/console.txt"
typed | timeout 120 qemu-system-arm -M netduinoplus2 -display none -monitor none -serial stdio \
  -semihosting-config enable=on,target=native -kernel "$build/examples/firmware/pronounce_small_firmware.elf" \
  >>"$build/console.txt"
cat "$build/console.txt"
sed -n 's/   ([0-9]* ticks, [0-9]* ms)$//p' "$build/console.txt" | diff -u "$build/expected.txt" -

fails_with() {
  local log=$build/refused.txt
  ! cmake -G Ninja -S "$source" -B "$build/refused" -D GOLDCREST_TESTS=OFF "${@:2}" >"$log" 2>&1 || exit 1
  rm -rf "$build/refused"
  tr -s ' \n' ' ' <"$log" | grep -oF "$1" || { cat "$log"; exit 1; }
}
fails_with "GOLDCREST_BOARD_DIR is $build, which has no board.cmake; boards/README.md says what it holds" \
  "${toolchain[@]}" -D GOLDCREST_BOARD_DIR="$build"
boards='mps2-an386, mps2-an500, mps2-an505, mps3-an547, nucleo-h743zi, riscv-virt, rpi-pico2'
fails_with "GOLDCREST_BOARD is mps9; boards/ has $boards;" "${toolchain[@]}" -D GOLDCREST_BOARD=mps9
fails_with "The board own_board needs a compiler for its CPU" -D GOLDCREST_BOARD_DIR="$source/tests/boards/own_board"
