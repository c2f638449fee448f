# SPDX-License-Identifier: Apache-2.0
# 64-bit Arm Linux with Debian's cross compiler. Programs run under qemu-user with every CPU extension that it emulates.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(GOLDCREST_QEMU qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR ${GOLDCREST_QEMU} -cpu max)
