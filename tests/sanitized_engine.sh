#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds only the engine, and a program around it, with one of clang's sanitizers, and runs models. memory: bytes that
# nobody wrote. thread: races between two engines on one model, with two threads each. conversion: integers that lose
# bits without a cast, and UndefinedBehaviorSanitizer's checks of arithmetic. Status 77: there is no clang.
# Usage: sanitized_engine.sh memory|thread|conversion SOURCE_DIR WORK_DIR MODEL LINES [MODEL LINES]...
set -euo pipefail
kind=$1 source_dir=$2 work=$3
shift 3
version=-14
command -v clang++-14 >/dev/null || version=''
command -v "clang++$version" >/dev/null || { echo "sanitized_engine.sh: no clang here"; exit 77; }
engines=1 threads=1
case $kind in
  memory) flags='-fsanitize=memory -fsanitize-memory-track-origins' ;;
  thread) flags='-fsanitize=thread' engines=2 threads=2 ;;
  conversion) flags='-fsanitize=undefined,implicit-conversion,float-divide-by-zero' ;;
  *) sed -n 's/^# \(Usage: .*\)/\1/p' "$0" >&2; exit 2 ;;
esac
flags="$flags -fno-sanitize-recover=all -g"
cmake -S "$source_dir" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_COMPILER=clang$version" \
  "-DCMAKE_CXX_COMPILER=clang++$version" "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" -DGOLDCREST_CONVERTER=OFF \
  -DGOLDCREST_PROGRAMS=OFF -DGOLDCREST_TESTS=OFF -DGOLDCREST_INSTALL=OFF >/dev/null
cmake --build "$work" --target goldcrest
# shellcheck disable=SC2086  # flags are words
"clang++$version" $flags -std=c++20 -O1 -pthread -I "$source_dir/engine" -I "$source_dir/engine/include" \
  "$source_dir/tests/sanitized_engine.cc" "$source_dir/engine/host/thread_pool.cc" "$work/engine/libgoldcrest.a" -lm \
  -o "$work/sanitized_engine"
while [ $# -gt 1 ]; do
  echo "$1"
  GOLDCREST_KERNELS=reference "$work/sanitized_engine" $engines $threads "$1" "$2"
  # MemorySanitizer does not know which bytes some of this machine's vector instructions write.
  [ "$kind" = memory ] || "$work/sanitized_engine" $engines $threads "$1" "$2"
  shift 2
done
