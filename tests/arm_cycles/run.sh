#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints modelled cycles of our Arm kernels. Usage: bash tests/arm_cycles/run.sh [OPTION...] [BUILD [WHAT...]]
#   BUILD                 a build for Arm; default: build/armv7, and build/xnnpack-aarch64 (of tests/xnnpack.sh, which
#                         traces XNNPACK's kernels, too), else build/aarch64; it configures the presets' own
#   WHAT                  rows of the linear layers; default: 1 2 4 6 32
#   --kleidiai FOLDER     a checkout of KleidiAI, whose kernels are then traced, too
#   --mca LLVM_MCA        only Neoverse V1, as this llvm-mca models it; LLVM 19 knows V1 (Debian 12: llvm-19)
#   --models              whole models on boards instead of linear layers; WHAT: some of base opus small tiny (all), with
#                         +all or +decoder for fine inputs, or files that goldcrest-convert wrote (NAME.gcst)
#   --bytes-a-cycle N     bytes a cycle that a core reads from memory, instead of each board's own
#   --floors              fails if a figure of floors.txt (models_floors.txt) is not reached by the presets' builds;
#                         exits with 77 if that cannot be told
# MODEL_FILES is the program of that name (a build of this machine); by default it is built here.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/arm_cycles kleidiai="" models="" floors="" mca="" bytes="" builds=(build/armv7 build/aarch64) code=1
fail() { echo "run.sh: $1" >&2; exit "$code"; }
while [ $# -gt 0 ]; do
  case $1 in
    --kleidiai) kleidiai=$(realpath "${2:?}") && shift ;;
    --mca) mca=${2:?} && shift ;;
    --bytes-a-cycle) bytes=${2:?} && shift ;;
    --models) models=models_ ;;
    --floors) floors=floors.txt code=77 ;;
    -*) code=2 && fail "there is no option $1" ;;
    *) break ;;
  esac
  shift
done
if [ -n "$floors" ]; then
  [ $# -eq 0 ] || { code=2 && fail "the floors cover only the presets' whole builds"; }
  floors=$here/$models$floors
  [ -z "$models" ] || set -- base small tiny  # opus has base's layers
  for compiler in aarch64-linux-gnu-g++ arm-linux-gnueabihf-g++; do
    version=$($compiler -dumpversion 2> /dev/null) || fail "needs $compiler"
    grep -q "^# GCC $version\$" "$floors" || fail "the floors are for another compiler; this is GCC $version"
  done
elif [ $# -gt 0 ]; then
  builds=("$1") && shift
elif [ -e build/xnnpack-aarch64/build.ninja ]; then
  builds=(build/armv7 build/xnnpack-aarch64)
fi
# Debian 13's qemu-aarch64 is linked statically and has no plugins.
qemu-aarch64 --help 2> /dev/null | grep plugin > /dev/null || fail "needs a qemu-aarch64 with plugins, such as Debian 12's"
declare -A build_of  # by bits
for build in "${builds[@]}"; do
  [ -z "$models" ] || [ "$build" != build/armv7 ] || continue  # no board that is modelled has 32 bits
  [[ ! $build =~ ^build/(aarch64|armv7)$ ]] || cmake --preset "${build#build/}" > /dev/null
  [ -e "$build/build.ninja" ] || fail "$build is not a build; run bash tests/xnnpack.sh, or cmake --preset aarch64"
  case $(sed -n 's/^CMAKE_TOOLCHAIN_FILE:.*=//p' "$build/CMakeCache.txt") in
    *aarch64*) bits=64 && cmake "-DGOLDCREST_KLEIDIAI=$kleidiai" "$build" > /dev/null ;;
    *) bits=32 ;;
  esac
  build_of[$bits]=$build
  cmake --build "$build" --target linear_trace model_trace > /dev/null
done
code=1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/proc"
cc -O2 -shared -fPIC -fvisibility=hidden "$here/tracer.c" -o "$work/tracer.so"
for program in arm_cycles model_cycles; do
  c++ -std=c++20 -O2 -I tests "$here"/{$program,cores,cores_m,decode,decode_thumb,simulate,trace}.cc -o "$work/$program"
done
if [ -n "$models" ]; then
  [ $# -gt 0 ] || set -- base opus small tiny
  if [ -z "${MODEL_FILES:-}" ]; then
    cmake --preset host > /dev/null && cmake --build build/host --target model_files > /dev/null
    MODEL_FILES=build/host/tests/arm_cycles/model_files
  fi
  for what; do  # replaces each argument by its name
    shift
    case $what in
      *.gcst) ln -s "$(realpath -e "$what")" "$work/" && what=$(basename "$what" .gcst) ;;
      *) "$MODEL_FILES" "$work" "$what" ;;
    esac
    set -- "$@" "$what"
  done
fi

# XNNPACK also asks for the CPU's identity; this QEMU reads it from /proc/cpuinfo in the folder after -L.
mkdir "$work/32"
ln -s /usr/aarch64-linux-gnu/lib "$work/lib"
ln -s /usr/arm-linux-gnueabihf/lib "$work/32/lib"

# trace PREFIX PROGRAM ARGUMENTS...
trace() {
  local program=${build_of[$bits]}/tests/arm_cycles/$2 plugin=$work/tracer.so,prefix=$1
  if [ "$bits" = 32 ]; then
    qemu-arm -L "$work/32" -cpu "$cpu" -plugin "$plugin" "$program" "${@:3}" > "$1.names"
    arm-linux-gnueabihf-objdump -D -z -b binary -m arm -M force-thumb --no-show-raw-insn "$1.code" > "$1.listing"
  else
    qemu-aarch64 -L "$work" -cpu "$cpu" -plugin "$plugin" "$program" "${@:3}" > "$1.names"
    aarch64-linux-gnu-objdump -D -b binary -m aarch64 --no-show-raw-insn "$1.code" > "$1.listing"
  fi
}

while read -r bits core table part cpu board board_bytes; do
  [ -n "${build_of[$bits]:-}" ] || continue
  printf 'processor: 0\nCPU implementer: 0x41\nCPU architecture: 8\nCPU variant: 0x1\nCPU part: %s\nCPU revision: 0\n' \
    "$part" > "$work/proc/cpuinfo"
  memory=${bytes:-$board_bytes}
  if [ "$core" = V1 ]; then [ -n "$mca$floors" ] || continue; else [ -z "$mca" ] || continue; fi
  if [ -z "$models" ]; then
    trace "$work/$core" linear_trace "$table" "$@"
    option=${floors:+--floors}${mca:+--mca}
    "$work/arm_cycles" "$work/$core" "$core" ${option:+"$option"} "${floors:-${mca:-$memory}}" || failed=1
  elif [ "$board" != - ]; then
    prefixes=()
    mkdir -p "$work/$table"
    for model in "$@"; do
      for beam in 1 4; do
        prefix=$work/$table/$model.$beam
        prefixes+=("$prefix")
        [ -e "$prefix.listing" ] || trace "$prefix" model_trace "$work/$model.gcst" "$table" $beam 32 64
      done
    done
    "$work/model_cycles" "$board" "$memory" ${floors:+--floors "$floors"} "${prefixes[@]}" || failed=1
  fi
done << 'END'
32 A7 arm_neon32 0xc07 cortex-a7 - 1.5
32 A53-32 arm_neon32 0xd03 cortex-a7 - 2
64 A53 arm_neon_a53 0xd03 cortex-a53 Pi3 2
64 A72 arm_neon 0xd08 cortex-a72 Pi4 3
64 A55 arm_dotprod_a55 0xd05 cortex-a76 - 2
64 A76 arm_dotprod 0xd0b cortex-a76 Pi5 3.8
64 V1 arm_i8mm 0xd40 max,sve=off,sme=off - 0
END
exit "${failed:-0}"
