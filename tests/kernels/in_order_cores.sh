#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests which kernel table is chosen first by the cores' identification registers. QEMU reads these from the folder
# after -L. Usage: in_order_cores.sh QEMU LIST_KERNELS
set -euo pipefail
qemu=$1 program=$2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
ln -s /usr/aarch64-linux-gnu/lib "$work/lib"
fail() { echo "in_order_cores.sh: $1" >&2; exit 1; }

# expect CPU FIRST PART...: FIRST goes first if the CPUs have these parts in turn. This machine limits their number.
expect() {
  local cpu=$1 first=$2 i folder found
  shift 2
  rm -rf "$work/sys"
  for ((i = 0; i < 64 && $# > 0; ++i)); do
    folder=$work/sys/devices/system/cpu/cpu$i/regs/identification
    mkdir -p "$folder"
    local parts=("$@")
    echo "0x00000000${parts[i % $#]}" > "$folder/midr_el1"
  done
  found=$("$qemu" -L "$work" -cpu "$cpu" "$program" | head -n 1)
  [ "$found" = "$first" ] || fail "$cpu with ${*:-no identification}: $found, not $first"
}
expect cortex-a53 arm_neon_a53 410fd034
expect cortex-a53 arm_neon
expect cortex-a53 arm_neon 410fd083
expect cortex-a53 arm_neon 510fd034
expect cortex-a76 arm_dotprod_a55 412fd050
expect cortex-a76 arm_dotprod_a55 412fd050 410fd034
expect cortex-a76 arm_dotprod 414fd0b1
expect max arm_i8mm 411fd461
# Two kinds of cores need a process that may run on two CPUs.
if [ "$(nproc)" -gt 1 ]; then
  expect cortex-a76 arm_dotprod 412fd050 414fd0b1
  expect cortex-a76 arm_dotprod 414fd0b1 412fd050
  expect cortex-a76 arm_dotprod 412fd050 411fd461
fi
