#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the instructions of one call of our 64-bit Arm linear kernels and of XNNPACK's. Each table runs on a CPU with
# only the features that it needs. Not a test. Usage: bash tests/kernels/xnnpack_instructions.sh [BUILD [ROWS...]]
#   BUILD   a build for 64-bit Arm with the XNNPACK backend; default: tests/xnnpack.sh's build/xnnpack-aarch64
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/xnnpack-aarch64}
shift $(($# > 0))
[ $# -gt 0 ] || set -- 1 2 4 6 32

[ -e "$build/build.ninja" ] ||
  { echo "xnnpack_instructions.sh: $build is not a build; run bash tests/xnnpack.sh" >&2; exit 1; }
# Debian 13's qemu-aarch64 is linked statically and has no plugins.
qemu-aarch64 --help 2> /dev/null | grep plugin > /dev/null ||
  { echo "xnnpack_instructions.sh: needs a qemu-aarch64 with plugins, such as Debian 12's" >&2; exit 1; }
cmake --build "$build" --target xnnpack_comparison > /dev/null
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir "$work/proc"
cc -O2 -shared -fPIC -fvisibility=hidden tests/kernels/instruction_counter.c -o "$work/counter.so"

# XNNPACK also asks for the CPU's identity; this QEMU reads it from /proc/cpuinfo in the folder after -L.
while read -r table part cpu; do
  printf 'processor: 0\nCPU implementer: 0x41\nCPU architecture: 8\nCPU variant: 0x0\nCPU part: %s\nCPU revision: 0\n' \
    "$part" > "$work/proc/cpuinfo"
  echo "$cpu, CPU part $part"
  qemu-aarch64 -L "$work" -cpu "$cpu" -plugin "$work/counter.so,counter=$work/instructions" \
    "$build/tests/kernels/xnnpack_comparison" --instructions "$work/instructions" "$table" "$@"
done << 'END'
arm_neon 0xd03 cortex-a53
arm_dotprod 0xd0c neoverse-n1
arm_i8mm 0xd40 max,sve=off
END
