# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm Linux (ARMv7, hard float) with Debian's cross compiler; programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
# Turns off the note that GCC 7 passes some arguments differently from GCC 6. No code here is that old.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
set(GOLDCREST_QEMU qemu-arm -L /usr/arm-linux-gnueabihf)
set(CMAKE_CROSSCOMPILING_EMULATOR ${GOLDCREST_QEMU} -cpu max)
