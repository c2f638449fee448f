#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the kernel tables of 64-bit Arm with the reference, bit by bit, on the CPUs of this machine's emulator. Also
# runs two CPUs that only Debian 13's emulator has; exits with 77 if it cannot be had. Usage: arm_cpus.sh SOURCE_DIR
set -euo pipefail
. "$(dirname "$0")/../common.sh"
cd "$1"
grep -q '^ID=debian$' /etc/os-release && [ "$(dpkg --print-architecture)" = amd64 ] ||
  skip "the packages and the emulators are for Debian on amd64"
needs aarch64-linux-gnu-g++
needs qemu-aarch64
sysroot=build/xnnpack_sysroots/arm64
bash toolchains/sysroot.sh $sysroot arm64 xnnpack || skip "needs Debian 13's packages"
cmake --preset aarch64 > /dev/null
cmake --build build/aarch64 --target contract_test list_kernels > /dev/null

dots="arm_dotprod arm_dotprod_a55 arm_neon arm_neon_a53"
while read -r emulator cpu tables; do
  run=("$emulator" -L /usr/aarch64-linux-gnu -cpu "$cpu")
  found=$("${run[@]}" build/aarch64/tests/kernels/list_kernels | xargs)
  [ "$found" = "$tables reference" ] || fail "$cpu runs $found, not $tables reference"
  "${run[@]}" build/aarch64/tests/kernels/contract_test > build/aarch64/contract_test.log ||
    { cat build/aarch64/contract_test.log && exit 1; }
  echo "$cpu: $tables, $(tail -n 1 build/aarch64/contract_test.log)"
done << END
qemu-aarch64 cortex-a53 arm_neon arm_neon_a53
qemu-aarch64 cortex-a72 arm_neon arm_neon_a53
qemu-aarch64 cortex-a76 $dots
qemu-aarch64 neoverse-n1 $dots
qemu-aarch64 max arm_i8mm $dots
$sysroot/usr/bin/qemu-aarch64 cortex-a55 $dots
$sysroot/usr/bin/qemu-aarch64 neoverse-v1 arm_i8mm $dots
END
