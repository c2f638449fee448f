#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the engine's source folder without -ffp-contract=off, with each compiler that this machine has and for each CPU
# that can fuse a product with a sum, and expects the golden hashes of int8 and of packed weights. The sources must keep
# the bits, and refuse -Ofast and its parts. As a control, the same sources without their pragma must fail.
# Usage: contract_flags.sh SOURCE BUILD WORK COMPILER...   COMPILER: gcc, gcc-14, clang-14, clang-16 ...
#   BUILD      a build of SOURCE for this machine, with the golden model and its hash
#   COMPILER   "short" means gcc at -O3, for this machine. A compiler that is not here is skipped, by a line.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) work=$(fresh_folder "$3")
shift 3
cmake --build "$build" --target goldcrest_source_folder > /dev/null
cp -r "$build/goldcrest_sources" "$work/sources"
golden=$build/tests/kernels/golden words=$source/tests/data/g2p/valid.tsv
cd "$work/sources"
grep -v -e -ffp-contract=off flags.txt > "$work/flags.txt"

# The only header of a C library that the engine includes, for compilers without one.
mkdir "$work/c"
cat > "$work/c/string.h" << 'END'
#pragma once
#include <stddef.h>
extern "C" {
void *memcpy(void *, const void *, size_t), *memmove(void *, const void *, size_t), *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
}
END

# run_wasm FILE: the module's status, with the model and the words in its memory.
run_wasm() {
  node -e 'const fs = require("fs"), [file, model, words] = process.argv.slice(1);
    WebAssembly.instantiate(fs.readFileSync(file), {}).then(({instance: {exports: e}}) => {
      new Uint8Array(e.memory.buffer).set(fs.readFileSync(model), e.model());
      new Uint8Array(e.memory.buffer).set(fs.readFileSync(words), e.words());
      process.exitCode = e.check() & 255;
    });' "$1" "$model" "$words"
}

# Files that use the same names as others for their helpers: engine/CMakeLists.txt compiles them one by one too.
alone='kernels/(cortexm|riscv|wasm|select_)|search/(draw|greedy)|reference/reference|inputs/log_mel'
alone+='|text/(double_array|utf8)'

# build_engine OUT LIST COMMAND...: the objects of LIST in OUT. Sources without flags of their own are one unit.
build_engine() {
  local out=$1 list=$2 file flags
  shift 2
  mkdir -p "$out"
  awk -v alone="$alone" '!/ -m/ && $1 !~ alone { print "#include \"" $1 "\"" }' "$list" > "$out/unit.cc"
  flags=$(awk '{ $1 = ""; for (i = 2; i <= NF; ++i) if ($i ~ /^-D/) printf "%s ", $i; exit }' "$list")
  # shellcheck disable=SC2086 # the list's flags are words
  "$@" @"$work/flags.txt" -I. $flags -c "$out/unit.cc" -o "$out/unit.o"
  while read -r file flags; do
    # shellcheck disable=SC2086
    "$@" @"$work/flags.txt" $flags -c "$file" -o "$out/$(basename "$file" .cc).o"
  done < <(awk -v alone="$alone" '/ -m/ || $1 ~ alone' "$list")
}

m7=(-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard)
rv32=(-march=rv32imafc -mabi=ilp32f)
no_library=(-ffreestanding -isystem "$work/c")

# check MACHINE EXPECTED COMMAND...: builds for MACHINE by COMMAND, and runs. EXPECTED: 0, or "not" for another status.
checked=0
check() {
  local machine=$1 expected=$2 out=$work/$((++checked)) freestanding=(-DFREESTANDING -fno-builtin)
  local list=sources.txt program=$out/program hash model status
  shift 2
  case $machine in *64) list=sources-$machine.txt freestanding=() ;; *) set -- "$@" -DGOLDCREST_ACCURACY ;; esac
  build_engine "$out" "$list" "$@"
  for hash in g2p g2p_unpacked; do
    model=$golden/${hash/un/}.gcst status=0
    "$@" @"$work/flags.txt" -DMODEL="\"$model\"" -DMODEL_BYTES="$(stat -c %s "$model")" -DWORDS="\"$words\"" \
      -DWORDS_BYTES="$(stat -c %s "$words")" -DEXPECTED_HASH="0x$(head -c 16 "$golden/$hash.hash")u" \
      "${freestanding[@]}" -c "$source/tests/kernels/contract_flags.cc" -o "$out/main.o"
    case $machine in
      x86_64) gcc "$out"/*.o -o "$program" && "$program" || status=$? ;;
      aarch64) aarch64-linux-gnu-gcc -static "$out"/*.o -o "$program" &&
        qemu-aarch64 -cpu max "$program" || status=$? ;;
      m7) arm-none-eabi-gcc "${m7[@]}" -nostdlib -Wl,-Ttext-segment=0x400000 "$out"/*.o -lc -lgcc -o "$program" &&
        qemu-arm -cpu max "$program" || status=$? ;;
      rv32) riscv64-unknown-elf-gcc "${rv32[@]}" -nostdlib -Wl,--no-relax "$out"/*.o -lgcc -o "$program" &&
        qemu-riscv32 "$program" || status=$? ;;
      wasm) "$wasm_ld" --no-entry "$out"/*.o -o "$program" && run_wasm "$program" || status=$? ;;
    esac
    echo "contract_flags: $machine: $hash: $*: status $status"
    [ -e "$program" ] || fail "no program for $machine: $*"
    if [ "$expected" = not ]; then [ "$status" -ne 0 ]; else [ "$status" -eq "$expected" ]; fi || fail "not $expected"
    rm "$program"
  done
}

# check_refusals COMMAND...: -Ofast and its parts are refused by name.
check_refusals() {
  local flag
  for flag in -Ofast -ffast-math -ffinite-math-only; do
    ! "$@" @"$work/flags.txt" "$flag" -c source/base/crc32c.cc -o /dev/null 2> "$work/refusal" || fail "$* took $flag"
    grep -q 'error.*-Ofast' "$work/refusal" || fail "$* $flag: $(head -3 "$work/refusal")"
  done
}

has() { command -v "$1" > /dev/null || { echo "contract_flags: no $1 here: not checked"; return 1; }; }

# check_gcc VERSION LEVEL: GCC for each CPU. VERSION: "" or "-14" ...
check_gcc() {
  local version=$1 level=$2 arm64=aarch64-linux-gnu-g++$1 riscv=riscv64-unknown-elf-g++
  if has "g++$version"; then check x86_64 0 "g++$version" "$level" -mfma; fi
  if has "$arm64" && has qemu-aarch64; then check aarch64 0 "$arm64" "$level"; fi
  [ -z "$version" ] || return 0
  if has arm-none-eabi-g++ && has qemu-arm; then check m7 0 arm-none-eabi-g++ "$level" "${m7[@]}"; fi
  if has $riscv && has qemu-riscv32; then check rv32 0 $riscv "$level" "${rv32[@]}" "${no_library[@]}"; fi
}

# check_clang VERSION LEVEL: clang for each CPU. Its own linker makes the module for wasm.
check_clang() {
  local clang=("clang++$1" "$2")
  wasm_ld=wasm-ld$1
  check x86_64 0 "${clang[@]}" -mfma
  if has aarch64-linux-gnu-g++ && has qemu-aarch64; then check aarch64 0 "${clang[@]}" --target=aarch64-linux-gnu; fi
  clang+=("${no_library[@]}")
  if has arm-none-eabi-gcc && has qemu-arm; then check m7 0 "${clang[@]}" --target=thumbv7em-none-eabihf "${m7[@]}"; fi
  if has riscv64-unknown-elf-gcc && has qemu-riscv32; then
    check rv32 0 "${clang[@]}" --target=riscv32-unknown-elf "${rv32[@]}"
  fi
  if has "$wasm_ld" && has node; then check wasm 0 "${clang[@]}" --target=wasm32 -msimd128; fi
}

for compiler in "$@"; do
  kind=${compiler%%-*} version=${compiler#"${compiler%%-*}"}
  if [ "$compiler" = short ]; then
    check x86_64 0 g++ -O3 -mfma
    check_refusals g++
    continue
  fi
  case $kind in gcc) command=g++$version ;; *) command=clang++$version ;; esac
  has "$command" || continue
  for level in -O2 -O3; do "check_$kind" "$version" "$level"; done
  check_refusals "$command"
done
# The control.
: > source/base/exact_floats.h
check x86_64 not g++ -O2 -mfma
echo "contract_flags: $checked builds"
