# SPDX-License-Identifier: Apache-2.0
# 64-bit RISC-V Linux (rv64gc) with Debian's cross compiler. Programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(GOLDCREST_QEMU qemu-riscv64 -L /usr/riscv64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR ${GOLDCREST_QEMU})
