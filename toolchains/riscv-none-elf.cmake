# SPDX-License-Identifier: Apache-2.0
# Bare-metal RISC-V with the distribution's GCC and picolibc. The toolchain file of an instruction set sets
# GOLDCREST_CPU_FLAGS and includes this one.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
# Compiler checks link no program, because that would need a board's linker script.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
string(APPEND GOLDCREST_CPU_FLAGS " -specs=picolibc.specs")
set(CMAKE_C_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
set(CMAKE_ASM_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
