# SPDX-License-Identifier: Apache-2.0
# 32-bit x86 Linux with Debian's cross compiler. Programs run directly on the CPU with the compiler's libraries. The
# kernel must support 32-bit programs, as those of distributions do.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER i686-linux-gnu-g++)
# The x87 FPU computes with more bits than a float has.
set(CMAKE_C_FLAGS_INIT "-msse2 -mfpmath=sse")
set(CMAKE_CXX_FLAGS_INIT "-msse2 -mfpmath=sse")
set(i686_libraries /usr/i686-linux-gnu/lib)
set(CMAKE_CROSSCOMPILING_EMULATOR ${i686_libraries}/ld-linux.so.2 --library-path ${i686_libraries})
