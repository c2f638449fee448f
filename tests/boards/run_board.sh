#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures, builds and tests one board's preset in a folder of its own.
# Usage: run_board.sh PRESET BUILD_FOLDER GOLDEN_FOLDER CONVERTER LABEL [TARGETS CMAKE_OPTION...]
# Ends with 77 if the compiler for RISC-V or WebAssembly is missing, which the fast tests do without.
# LABEL is a regular expression; TARGETS is one argument, with spaces between the targets.
set -euo pipefail
preset=$1 folder=$2 golden=$3 converter=$4 label=$5 targets=${6:-all}
shift $(($# < 6 ? $# : 6))
cd "$(dirname "$0")/../.."

needed=(arm-none-eabi-g++ qemu-system-arm) suite=tests missing=1
if [[ "$preset" = riscv-* ]]; then needed+=(riscv64-unknown-elf-g++ qemu-system-riscv32); fi
if [ "$preset" = wasm ]; then needed=(clang++ "$(clang++ -print-prog-name=wasm-ld || echo wasm-ld)" node llvm-ar); fi
if [[ "$preset" =~ ^(riscv-|wasm$) ]]; then suite=full missing=77; fi
for program in "${needed[@]}"; do
  command -v "$program" >/dev/null && continue
  echo "$program is missing; bash toolchains/install_packages.sh $suite" >&2
  exit $missing
done
cmake --preset "$preset" -B "$folder" -D GOLDCREST_GOLDEN_FOLDER="$golden" \
  -D GOLDCREST_CONVERT_EXECUTABLE="$converter" "$@"
# shellcheck disable=SC2086  # several words
cmake --build "$folder" --target $targets --parallel 2
ctest --test-dir "$folder" -L "^($label)\$" --no-tests=error --output-on-failure
