#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Multiply-accumulates a cycle of our 64-bit Arm linear kernels on models of cores, beside XNNPACK's where the build has
# it. Usage: bash tests/arm_cycles/run.sh [BUILD [ROWS...]]
#        bash tests/arm_cycles/run.sh --floors
#   BUILD      a build for 64-bit Arm; default: build/xnnpack-aarch64 (of tests/xnnpack.sh), else build/aarch64
#   --floors   fails where a figure of floors.txt is not reached by build/aarch64, which it configures; leaves with 77
#              where that cannot be told
set -euo pipefail
cd "$(dirname "$0")/../.."

here=tests/arm_cycles floors=() code=1
fail() { echo "run.sh: $1" >&2; exit "$code"; }
if [ "${1:-}" = --floors ]; then
  shift
  [ $# -eq 0 ] || { echo "usage: bash tests/arm_cycles/run.sh [--floors | BUILD [ROWS...]]" >&2; exit 2; }
  floors=("$here/floors.txt") code=77
  version=$(aarch64-linux-gnu-g++ -dumpversion 2> /dev/null) || fail "needs aarch64-linux-gnu-g++"
  grep -q "^# GCC $version\$" "${floors[0]}" || fail "the floors are another compiler's, this is GCC $version"
  build=build/aarch64
  cmake --preset aarch64 > /dev/null
else
  build=${1:-build/xnnpack-aarch64}
  [ $# -gt 0 ] || [ -e "$build/build.ninja" ] || build=build/aarch64
  shift $(($# > 0))
fi
# Debian 13's is linked statically, without plugins.
qemu-aarch64 --help 2> /dev/null | grep plugin > /dev/null || fail "needs a qemu-aarch64 with plugins, as Debian 12 has it"
[ -e "$build/build.ninja" ] || fail "$build is no build; run bash tests/xnnpack.sh, or cmake --preset aarch64"
code=1
cmake --build "$build" --target linear_trace > /dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/proc"
cc -O2 -shared -fPIC -fvisibility=hidden "$here/tracer.c" -o "$work/tracer.so"
c++ -std=c++20 -O2 -I tests "$here"/{arm_cycles,cores,decode,simulate,trace}.cc -o "$work/arm_cycles"

# XNNPACK asks the CPU's identity, too, which this QEMU takes from /proc/cpuinfo of the folder after -L.
ln -s /usr/aarch64-linux-gnu/lib "$work/lib"
while read -r core table part cpu; do
  printf 'processor: 0\nCPU implementer: 0x41\nCPU architecture: 8\nCPU variant: 0x1\nCPU part: %s\nCPU revision: 0\n' \
    "$part" > "$work/proc/cpuinfo"
  qemu-aarch64 -L "$work" -cpu "$cpu" -plugin "$work/tracer.so,prefix=$work/$core" \
    "$build/tests/arm_cycles/linear_trace" "$table" "$@" > "$work/$core.names"
  aarch64-linux-gnu-objdump -D -b binary -m aarch64 --no-show-raw-insn "$work/$core.code" > "$work/$core.listing"
  "$work/arm_cycles" "$work/$core" "$core" "${floors[@]}" || failed=1
done << 'END'
A53 arm_neon_a53 0xd03 cortex-a53
A72 arm_neon 0xd08 cortex-a72
A55 arm_dotprod_a55 0xd05 cortex-a76
A76 arm_dotprod 0xd0b cortex-a76
END
exit "${failed:-0}"
