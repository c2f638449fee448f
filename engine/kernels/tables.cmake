# SPDX-License-Identifier: Apache-2.0
# The kernel tables among which an engine chooses when it starts: machine, file, flags. Each ISA is one translation
# unit, compiled with only this ISA's flags.
# GCC warns of placeholders for unused lanes in its own AVX-512 header.
set(no_warnings "-Wno-uninitialized -Wno-maybe-uninitialized")
set(GOLDCREST_KERNEL_TABLES
  "x86_64 kernels/x86/avx2.cc -mavx2"
  "x86_64 kernels/x86/avxvnni.cc -mavx2 -mavxvnni"
  "x86_64 kernels/x86/avx512vnni.cc -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni ${no_warnings}"
  "aarch64 kernels/arm/neon.cc -march=armv8-a+crc"
  "aarch64 kernels/arm/neon_a53.cc -march=armv8-a+crc"
  "aarch64 kernels/arm/dotprod.cc -march=armv8.2-a+dotprod"
  "aarch64 kernels/arm/dotprod_a55.cc -march=armv8.2-a+dotprod"
  "aarch64 kernels/arm/i8mm.cc -march=armv8.2-a+dotprod+i8mm"
  # The kernels use no fused operation, so the first NEON is enough.
  "armv7 kernels/arm/neon32.cc -march=armv7-a+simd -mfpu=neon"
  "riscv64 kernels/riscv/rvv.cc -march=rv64gcv"
  "riscv64 kernels/riscv/scalar.cc -march=rv64gc")
