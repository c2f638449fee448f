# SPDX-License-Identifier: Apache-2.0
# 32-bit RISC-V with a single-precision FPU.
set(GOLDCREST_CPU_FLAGS "-march=rv32imafc -mabi=ilp32f")
include("${CMAKE_CURRENT_LIST_DIR}/riscv-none-elf.cmake")
