#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses Goldcrest as other projects do, in a fresh folder. Usage:
#   check.sh CONSUMER MACHINE WORK SOURCE BUILD CONVERTER [OPTION...]
#   CONSUMER   find_package | xnnpack (find_package too) | add_subdirectory | own_build |
#              host_converter (add_subdirectory that builds the converter too) |
#              board (add_subdirectory with the start-up code of a board, and the converter in PATH)
#   MACHINE    mps3-an547 for board, else host | hard | soft: this one, or a Cortex-M4 with or without its FPU, each
#              with and without -fshort-enums; own_build: also aarch64, 64-bit Arm Linux under qemu-user
#   BUILD      a build of SOURCE for this machine, with its CONVERTER
#   OPTION     of cmake, for xnnpack: where the library is
set -euo pipefail
consumer=$1 machine=$2 source=$4 build=$5 converter=$6
folder=$source/tests/consumers name="check.sh $consumer $machine"
. "$source/tests/common.sh"
work=$(fresh_folder "$3")
limits=(--max-source 25 --max-target 33 --beam-size 4 --encoder-rows 2)

# A firmware must have none of these: heap, system calls, exceptions, the C++ library, printf.
check_symbols() {
  local found forbidden='_?(malloc|free|calloc|realloc|sbrk)(_r)?|_exit|abort|_?(v|f|s|sn|vsn)?printf.*'
  forbidden+='|__cxa_.*|_Zn[aw].*|_Zd[al].*|_Unwind_.*|__gxx_.*'
  found=$(arm-none-eabi-nm "$1" | awk '{ print $NF }' | grep -xE "$forbidden" || true)
  [ -z "$found" ] || fail "the program has: $found"
}

check_program() {
  case $machine in
    host) "$1" || fail "the program's exit status is $?" ;;
    aarch64) qemu-aarch64 -cpu max "$1" || fail "the program's exit status is $?" ;;
    *) check_symbols "$1" ;;
  esac
}

# The Makefile's engine has the kernel tables of our own builds, and it asks the CPU which of them run.
check_tables() {
  "$1g++" -I"$work/sources/include" "$source/tests/kernels/list_kernels.cc" "$work/sources/build/libgoldcrest.a" $2 \
    -o "$work/tables"
  if [ "$machine" = host ]; then
    [ "$("$work/tables")" = "$("$build/tests/kernels/list_kernels")" ] || fail "other kernel tables: $("$work/tables")"
  else
    local found
    found=$(for cpu in max neoverse-n1 cortex-a72; do qemu-aarch64 -cpu $cpu "$work/tables" | head -1; done)
    [ "$found" = $'arm_i8mm\narm_dotprod\narm_neon' ] || fail "other kernel tables: $found"
  fi
}

# The emitted header in C++: constants, limits and the array's declaration.
check_header() {
  g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I"$work/sources/include" -I"$work/model" -x c++ - << 'END'
#include "model_g2p.h"
static_assert(MODEL_G2P_ARENA_BYTES % GOLDCREST_ALIGN == 0 && MODEL_G2P_STACK_BYTES == GOLDCREST_STACK_BYTES);
static_assert(sizeof model_g2p == MODEL_G2P_BYTES);
constexpr goldcrest_limits kLimits = MODEL_G2P_LIMITS;
static_assert(kLimits.max_source_tokens == MODEL_G2P_MAX_SOURCE_TOKENS && kLimits.threads == 1);
END
}

# Configures and builds the project in $1, with further options of cmake. Its engine is for debugging, which is quick.
build_project() {
  cmake_build "$1" program -S "$folder/project" -DCMAKE_BUILD_TYPE=Release -DCHECKPOINT="$work/g2p" "${@:2}"
}

# The program's model is converted again exactly if the checkpoint has changed.
check_nothing_is_stale() {
  local out=$1 model=$1/goldcrest_models/program/model_g2p.gcst
  touch "$work/before"
  cmake --build "$out" --target program > /dev/null
  [ ! "$model" -nt "$work/before" ] || fail "an unchanged checkpoint was converted again"
  sleep 0.01
  touch "$work/g2p/config.json"
  cmake --build "$out" --target program > /dev/null
  [ "$model" -nt "$work/before" ] && [ "$out/program" -nt "$work/before" ] || fail "a changed checkpoint was ignored"
}

# Builds the program again, with the flags of the installed package's goldcrest.pc.
check_pkg_config() {
  local model=$work/host/goldcrest_models/program flags
  read -r -a flags <<< "$(PKG_CONFIG_PATH=$work/package/lib/pkgconfig pkg-config --cflags --libs goldcrest)"
  gcc -std=c11 -I"$model" "$folder/program.c" "$model/model_g2p.S" "${flags[@]}" -o "$work/pkg_config"
  check_program "$work/pkg_config"
}

# Without flatc the error names the packages of flatc and of its header.
check_no_flatc() {
  # CMake looks for programs in a folder without programs.
  if cmake -G Ninja -S "$source" -B "$work/missing" -DCMAKE_MAKE_PROGRAM="$(command -v ninja)" \
    -DCMAKE_C_COMPILER="$(command -v cc)" -DCMAKE_CXX_COMPILER="$(command -v c++)" \
    -DCMAKE_FIND_ROOT_PATH="$work/g2p" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY > "$work/missing.log" 2>&1; then
    fail "a build without flatc was configured"
  fi
  tr -s '\n ' ' ' < "$work/missing.log" | grep -qF "Goldcrest's converter writes files with FlatBuffers, and this\
 machine lacks flatc or flatbuffers/flatbuffers.h: install the packages flatbuffers-compiler and libflatbuffers-dev\
 (Debian, Ubuntu), or name them with -DGOLDCREST_FLATC=FILE and -DGOLDCREST_FLATBUFFERS_INCLUDE=FOLDER" ||
    { cat "$work/missing.log" >&2; fail "the error names no package"; }
}

options=() enum_flags=("") arm=-DCMAKE_TOOLCHAIN_FILE="$source/toolchains/arm-none-eabi-cortex"
case $machine in
  hard) options=("$arm-m4f.cmake") ;;
  mps3-an547) options=("$arm-m55.cmake" -DGOLDCREST_BOARD="$machine") ;;
  soft) options=("$arm-m4.cmake") ;;
esac
[[ "$machine" =~ ^(host|aarch64)$ ]] || enum_flags=(-fshort-enums -fno-short-enums)
cp -r "$source/examples/models/g2p" "$work/g2p"

case $consumer in
  find_package)
    if [ "$machine" = host ]; then
      cmake --install "$build" --prefix "$work/package" > /dev/null
      build_project "$work/host" -DCMAKE_PREFIX_PATH="$work/package"
      check_program "$work/host/program"
      check_nothing_is_stale "$work/host"
      check_pkg_config
      exit
    fi
    cmake_build "$work/library" all -S "$source" "${options[@]}" -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_TESTS=OFF
    cmake --install "$work/library" --prefix "$work/package" > /dev/null
    [ -z "$(find "$work/package" -name '*xnnpack*')" ] || fail "parts of the XNNPACK backend are installed without it"
    for enum_flag in "${enum_flags[@]}"; do
      CFLAGS=$enum_flag build_project "$work/program$enum_flag" "${options[@]}" \
        -DCMAKE_PREFIX_PATH="$work/package" -DGOLDCREST_CONVERT_EXECUTABLE="$converter"
      check_program "$work/program$enum_flag"/program*
    done ;;
  xnnpack)
    cmake --install "$build" --prefix "$work/package" > /dev/null
    build_project "$work/program" -DXNNPACK=ON -DCMAKE_PREFIX_PATH="$work/package" "${@:7}"
    check_program "$work/program/program"
    # CMake looks for libraries in a folder without libraries.
    if cmake -G Ninja -S "$folder/project" -B "$work/missing" -DXNNPACK=ON -DCMAKE_PREFIX_PATH="$work/package" \
      -DCMAKE_FIND_ROOT_PATH="$work/g2p" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY > "$work/missing.log" 2>&1; then
      fail "a package without its XNNPACK was found"
    fi
    grep -q 'not found: XNNPACK pthreadpool' "$work/missing.log" ||
      { cat "$work/missing.log" >&2; fail "the error gives no reason"; } ;;
  board)
    PATH="$(dirname "$converter"):$PATH" build_project "$work/program" "${options[@]}" -DGOLDCREST="$source"
    grep -q 'Models are converted with .*goldcrest-convert' "$work/program.log" || fail "another converter was built"
    timeout 120 cmake --build "$work/program" --target run || fail "the program failed on the emulated board" ;;
  add_subdirectory | host_converter)
    [ "$consumer" != add_subdirectory ] || options+=(-DGOLDCREST_CONVERT_EXECUTABLE="$converter" -DCMAKE_BUILD_TYPE=)
    [ "$consumer" != host_converter ] || options+=(-DGOLDCREST_HOST_BUILD_FOLDER="$work/host_converter")
    for enum_flag in "${enum_flags[@]}"; do
      CFLAGS=$enum_flag CXXFLAGS=$enum_flag build_project "$work/program$enum_flag" "${options[@]}" \
        -DGOLDCREST="$source"
      check_program "$work/program$enum_flag/program"
    done
    [ "$machine" != host ] || { check_nothing_is_stale "$work/program" && check_no_flatc; } ;;
  own_build)
    cmake --build "$build" --target goldcrest_source_folder > /dev/null
    cp -r "$build/goldcrest_sources" "$work/sources"
    if grep -rF -e "$source" -e "$build" "$work/sources"; then fail "the folder contains paths of this machine"; fi
    array=(--array)
    prefix=arm-none-eabi- list=sources.txt
    link='-nostdlib -Wl,--entry=main,--gc-sections,--no-enum-size-warning -lc -lgcc'
    case $machine in
      host) prefix='' cpu='' link='' list=Makefile array=() ;;
      aarch64) prefix=aarch64-linux-gnu- cpu='' link=-static list=Makefile ;;
      hard) cpu='-mthumb -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16' ;;
      soft) cpu='-mthumb -mcpu=cortex-m4 -mfloat-abi=soft' ;;
    esac
    "$converter" --quiet "$work/g2p" --emit-c "$work/model" "${limits[@]}" "${array[@]}" > /dev/null
    for enum_flag in "${enum_flags[@]}"; do
      bash "$folder/own_build/build.sh" "$work/sources/$list" "$work/model" "$folder/program.c" \
        "$work/program$enum_flag" "$prefix" "$cpu $enum_flag" "$link"
      check_program "$work/program$enum_flag"
    done
    [ $list != Makefile ] || check_tables "$prefix" "$link"
    [ "$machine" != host ] || check_header ;;
esac
