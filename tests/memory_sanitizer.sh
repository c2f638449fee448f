#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the engine alone, and a C program around it, with clang's MemorySanitizer, and runs models. Status 77 without clang.
# Usage: memory_sanitizer.sh SOURCE_DIR WORK_DIR MODEL LINES [MODEL LINES]...
set -euo pipefail
source_dir=$1 work=$2
shift 2
version=-14
command -v clang++-14 >/dev/null || version=''
command -v "clang++$version" >/dev/null || { echo "memory_sanitizer.sh: no clang here"; exit 77; }
flags="-fsanitize=memory -fno-sanitize-recover=all -fsanitize-memory-track-origins -g"
cmake -S "$source_dir" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=clang$version" \
  "-DCMAKE_CXX_COMPILER=clang++$version" "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" -DGOLDCREST_CONVERTER=OFF \
  -DGOLDCREST_PROGRAMS=OFF -DGOLDCREST_TESTS=OFF -DGOLDCREST_INSTALL=OFF >/dev/null
cmake --build "$work" --target goldcrest
# shellcheck disable=SC2086  # flags are words
"clang$version" $flags -std=c11 -O1 -I "$source_dir/engine/include" "$source_dir/tests/memory_sanitizer.c" \
  "$work/engine/libgoldcrest.a" -lm -o "$work/memory_sanitizer"
while [ $# -gt 1 ]; do
  echo "$1"
  "$work/memory_sanitizer" "$1" "$2"
  shift 2
done
