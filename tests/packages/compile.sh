#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the generated packages without their ecosystems, each with its ecosystem's flags.
#   pieces    the example with a model that is read by pieces, and on two threads
#   options   the engine with no option, each option with what it needs, and all; links the example
#   zephyr_module  Zephyr's module over stand-ins of Zephyr, without and with options and CONFIG_SMP
#   flags     all sources with the flags of ESP-IDF, Pico SDK, Zephyr, Arduino's cores and CMSIS-Packs, by Debian's GCC
#             for Arm and RISC-V; links the example for a Cortex-M7 and prints its size
# Leaves with 77 and a sentence where a compiler is missing.
# Usage: compile.sh BUILD WORK [pieces|options|zephyr_module|flags]... (none: all). Env: JOBS [2]
set -euo pipefail
. "$(dirname "$0")/common.sh"
make_packages "$1" "$2"
shift 2
[ $# -gt 0 ] || set -- pieces options zephyr_module flags
cp -r "$build/packages" "$work/packages"
packages=$work/packages JOBS=${JOBS:-2}

# compile NAME COMMAND FILE...: an object of each file in flags_NAME, JOBS at a time. COMMAND is a shell's words.
compile() {
  local out=$work/flags_$1
  mkdir -p "$out"
  printf '%s\n' "${@:3}" |
    logged "$out.log" xargs -P "$JOBS" -I FILE sh -c "$2 -c FILE -o \"$out/\$(echo FILE | tr / _).o\""
  [ ! -s "$out.log" ] || { cat "$out.log" >&2; fail "warnings of $2"; }
}

# The plain library of Pico SDK's package, which is CMake without the SDK; build_library OUT OPTION...
build_library() {
  cmake_build "$1" all -S "$work/project" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "${@:2}"
  [ "$("$1/program")" = "$words" ] || fail "${*:2} gives: $("$1/program")"
}

write_project() {
  mkdir -p "$work/project"
  cp "$packages/cmsis-pack/goldcrest/examples/pronounce"/* "$work/project"
  cat > "$work/project/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.22)
project(check C CXX)
add_subdirectory($packages/pico-sdk/goldcrest goldcrest)
add_executable(program \${MAIN} pronounce.c model_g2p_small.c)
find_package(Threads)
target_link_libraries(program goldcrest m Threads::Threads)
END
  cat > "$work/project/pieces.c" << 'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "model_g2p_small.h"
#include "pronounce.h"

static _Alignas(GOLDCREST_ALIGN) unsigned char ram[MODEL_G2P_SMALL_BYTES];
static unsigned pieces, calls;

static int read_piece(void *flash, size_t offset, void *to, size_t n) {
  if (n > 4096 || offset + n > MODEL_G2P_SMALL_BYTES) return -1;
  ++pieces;
  memcpy(to, (const unsigned char *)flash + offset, n);
  return 0;
}

static int broken_piece(void *flash, size_t offset, void *to, size_t n) {
  return offset > 0 ? 7 : read_piece(flash, offset, to, n);
}

struct work { void (*task)(void *, size_t); void *context; };
static void *second(void *work) { return ((struct work *)work)->task(((struct work *)work)->context, 1), NULL; }

static void on_two_cores(void *context, void (*task)(void *, size_t), void *task_context, size_t n) {
  (void)context;
  struct work work = {task, task_context};
  pthread_t thread;
  if (n > 1 && pthread_create(&thread, NULL, second, &work) == 0) {
    ++calls;
    task(task_context, 0);
    pthread_join(thread, NULL);
  } else {
    for (size_t i = 0; i < n; ++i) task(task_context, i);
  }
}

static void print(const char *text) { fputs(text, stdout); }

int main(void) {
  if (read_model_by_pieces(broken_piece, (void *)model_g2p_small, ram, sizeof ram) != 7 || pieces != 1) return 2;
  pieces = 0;
  if (read_model_by_pieces(read_piece, (void *)model_g2p_small, ram, sizeof ram) != 0) return 3;
  if (pieces != (sizeof ram + 4095) / 4096) return 4;
  if (pronounce_words(ram, sizeof ram, on_two_cores, print) < 0 || calls == 0) return 5;
  ram[sizeof ram - 1] ^= 1; /* refused, with a message on the console */
  return pronounce_words(ram, sizeof ram, NULL, (void (*)(const char *))strlen) < 0 ? 0 : 6;
}
END
}

pieces() {
  write_project
  build_library "$work/pieces" -DMAIN=pieces.c
  "$work/pieces/program" > /dev/null || fail "pieces.c: status $?"
  echo "compile.sh: pieces: a model in RAM, two threads, a broken flash"
}

options() {
  local options option
  write_project
  mapfile -t options < <(sed -n 's/^option(\(GOLDCREST_\w*\) .*/\1/p' "$packages/pico-sdk/goldcrest/CMakeLists.txt")
  [ "${#options[@]}" -gt 5 ] || fail "no options"
  build_library "$work/options_none" -DMAIN=main.c
  for option in "${options[@]}"; do
    build_library "$work/options_$option" -DMAIN=main.c "-D$option=ON"
    grep -q -- "-D$option\b" "$work/options_$option/build.ninja" || fail "$option is not defined"
    rm -r "$work/options_$option"
  done
  mapfile -t options < <(printf -- '-D%s=ON\n' "${options[@]}")
  build_library "$work/options_all" -DMAIN=main.c "${options[@]}"
  echo "compile.sh: options: none, each of ${#options[@]}, all"
}

zephyr_module() {
  local sample=$packages/zephyr/goldcrest/samples/pronounce options smp
  mkdir -p "$work/zephyr/headers/zephyr/sys"
  cat > "$work/zephyr/headers/zephyr/kernel.h" << 'END'
#include <stddef.h>
#include <stdint.h>
#define ARG_UNUSED(x) (void)(x)
#define K_THREAD_STACK_DEFINE(name, size) static uint8_t name[size]
#define K_THREAD_STACK_SIZEOF(name) sizeof name
#define K_SEM_DEFINE(name, initial, limit) struct k_sem name = {initial, limit}
#define K_PRIO_PREEMPT(x) (x)
#define K_NO_WAIT 0
#define K_FOREVER -1
struct k_thread { int unused; };
struct k_sem { unsigned count, limit; };
int k_sem_take(struct k_sem *sem, int timeout);
void k_sem_give(struct k_sem *sem);
typedef void k_thread_entry(void *, void *, void *);
struct k_thread *k_thread_create(struct k_thread *thread, uint8_t *stack, size_t size, k_thread_entry *entry, void *a,
                                 void *b, void *c, int priority, uint32_t options, int delay);
END
  printf '#include <stdio.h>\n#define printk printf\n' > "$work/zephyr/headers/zephyr/sys/printk.h"
  # The arguments that Zephyr's functions take, and its older C++ in the interface of all libraries.
  cat > "$work/zephyr/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.20)
project(check C CXX)
add_library(zephyr_interface INTERFACE)
target_compile_options(zephyr_interface INTERFACE \$<\$<COMPILE_LANGUAGE:CXX>:-std=c++11>)
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE \${ARGV})
endfunction()
macro(zephyr_library_named name)
  set(ZEPHYR_CURRENT_LIBRARY \${name})
  add_library(\${name} STATIC "")
  target_link_libraries(\${name} PUBLIC zephyr_interface)
endmacro()
function(zephyr_library_sources source)
  target_sources(\${ZEPHYR_CURRENT_LIBRARY} PRIVATE \${source} \${ARGN})
endfunction()
function(zephyr_library_include_directories)
  target_include_directories(\${ZEPHYR_CURRENT_LIBRARY} PRIVATE \${ARGN})
endfunction()
function(zephyr_library_compile_definitions item)
  target_compile_definitions(\${ZEPHYR_CURRENT_LIBRARY} PRIVATE \${item} \${ARGN})
endfunction()
add_subdirectory($packages/zephyr/goldcrest/zephyr goldcrest)
add_executable(program $sample/src/main.c $sample/src/pronounce.c $sample/src/model_g2p_small.c)
target_include_directories(program PRIVATE headers)
target_link_libraries(program goldcrest m)
END
  for options in '' '-DCONFIG_GOLDCREST_TEXT=ON -DCONFIG_GOLDCREST_SEARCH=ON'; do
    rm -rf "$work/zephyr/build"
    # shellcheck disable=SC2086
    cmake_build "$work/zephyr/build" all -S "$work/zephyr" -DCONFIG_GOLDCREST=ON $options
    [ "$("$work/zephyr/build/program")" = "$words" ] || fail "zephyr: $("$work/zephyr/build/program")"
  done
  grep -q -- -DGOLDCREST_SEARCH "$work/zephyr/build/build.ninja" || fail "zephyr: an option defines nothing"
  for smp in '' -DCONFIG_SMP; do
    gcc -fsyntax-only -Wall -Wextra -Werror $smp -I"$work/zephyr/headers" -I"$packages/zephyr/goldcrest/include" \
      "$sample/src/main.c" || fail "zephyr: main.c $smp"
  done
  echo "compile.sh: zephyr: the module and its sample, over stand-ins"
}

flags() {
  local cpu sources arm='arm-none-eabi-g++ -mthumb' riscv=riscv64-unknown-elf-g++ include='-Iinclude -Isource'
  local common='-ffunction-sections -fdata-sections -fno-exceptions -fno-rtti'
  local all='-Wall -Wextra -Wno-unused-parameter -Wno-sign-compare' precise='-std=c++17 -O2 -fno-math-errno'
  local zephyr="-fcheck-new -std=c++11 -Wno-register $common -fno-common -fno-strict-aliasing -Wall -Wpointer-arith -Os"
  sources=$(cat "$build/goldcrest_sources/sources.txt")
  needs arm-none-eabi-g++
  cd "$packages/cmsis-pack/goldcrest"
  # CMSIS-Packs and the example's size. draw.cc compiles only with its option.
  for cpu in m4:fpv4-sp-d16 m7:fpv5-d16 m33:fpv5-sp-d16 m55:auto; do
    compile ${cpu%:*} "$arm -mcpu=cortex-${cpu%:*} -mfpu=${cpu#*:} -mfloat-abi=hard $precise $common $include" \
      $(sed -n 's/.*category="sourceCpp" name="\([^"]*\)".*/\1/p' ./*.pdsc | grep -v decoding/search/draw.cc)
  done
  arm-none-eabi-gcc -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -mthumb -O2 -ffunction-sections -Iinclude \
    --specs=nano.specs --specs=nosys.specs -Wl,--gc-sections,--no-warnings examples/pronounce/*.c "$work"/flags_m7/*.o \
    -o "$work/example.elf"
  arm-none-eabi-size "$work/example.elf" | tail -1 | awk -v flash=260000 -v ram=40000 '
    { print "compile.sh: flags: example on a Cortex-M7: " $1 + $2 " bytes of flash, " $2 + $3 " of RAM" }
    $1 + $2 > flash || $2 + $3 > ram { print "compile.sh: more than the READMEs say"; exit 1 }' || exit 1
  # Pico SDK 2, Zephyr, Arduino's cores rp2040 and stm32.
  compile pico "$arm -mcpu=cortex-m33 -march=armv8-m.main+fp+dsp -mfloat-abi=softfp -mcmse -O3 -DNDEBUG -std=c++17 \
    $common -fno-unwind-tables -fno-use-cxa-atexit $all $include" $sources
  compile zephyr "$arm $zephyr -fno-asynchronous-unwind-tables -fno-reorder-functions --param=min-pagesize=0 \
    -fno-defer-pop -g -gdwarf-4 -mcpu=cortex-m55 -mabi=aapcs -mfpu=auto -mfloat-abi=hard -mfp16-format=ieee -Wformat \
    -Wformat-security -Wno-format-zero-length -Wdouble-promotion -Wexpansion-to-defined -Wno-unused-but-set-variable \
    $precise $include" $sources
  cd "$packages/arduino/Goldcrest/src"
  compile rp2040 "$arm -march=armv8-m.main+fp+dsp -mfloat-abi=softfp -mcmse -Os -std=gnu++17 $common \
    -Werror=return-type -iquote . -I." $(find * -name '*.cpp')
  compile stm32 "$arm -mcpu=cortex-m7 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -Os -std=gnu++17 $common -I. \
    --param max-inline-insns-single=500 -fno-threadsafe-statics -fno-use-cxa-atexit" $(find * -name '*.cpp')
  command -v $riscv > /dev/null || skip "RISC-V, because $riscv is not installed"
  [ -d /usr/lib/picolibc/riscv64-unknown-elf ] || skip "RISC-V, because picolibc is not installed"
  riscv+=' --specs=picolibc.specs'
  compile esp32 "$riscv -march=rv32imc_zicsr_zifencei -mabi=ilp32 -Os -std=gnu++2b -fexceptions -fno-rtti -I." \
    $(find * -name '*.cpp')
  # ESP-IDF's, of a project whose optimization is for debugging; ESP32-C3 and P4. Zephyr's for RISC-V.
  cd "$packages/esp-idf/goldcrest"
  for cpu in rv32imc:ilp32 rv32imafc:ilp32f; do
    compile ${cpu%:*} "$riscv -march=${cpu%:*}_zicsr_zifencei -mabi=${cpu#*:} $common -Werror $all -gdwarf-4 -ggdb -Og \
      -Wno-enum-conversion -fstrict-volatile-bitfields -fno-jump-tables -fno-tree-switch-conversion -std=gnu++2b \
      -fuse-cxa-atexit -O2 -fno-math-errno $include" $sources
  done
  compile zephyr_riscv "$riscv -march=rv32imac_zicsr_zifencei -mabi=ilp32 -mcmodel=medlow $zephyr $precise $include" \
    $sources
  echo "compile.sh: flags: Pico SDK, Zephyr (2), Arduino (3), ESP-IDF (2), CMSIS-Pack (4)"
}

for part in "$@"; do
  case $part in
    pieces | options | zephyr_module | flags) "$part" ;;
    *) fail "usage: compile.sh BUILD WORK [pieces|options|zephyr_module|flags]..." ;;
  esac
done
