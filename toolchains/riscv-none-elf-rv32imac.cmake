# SPDX-License-Identifier: Apache-2.0
# 32-bit RISC-V without an FPU: the compiler's own functions compute floats.
set(GOLDCREST_CPU_FLAGS "-march=rv32imac -mabi=ilp32")
include("${CMAKE_CURRENT_LIST_DIR}/riscv-none-elf.cmake")
