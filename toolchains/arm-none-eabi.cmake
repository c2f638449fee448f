# SPDX-License-Identifier: Apache-2.0
# Bare-metal Arm with the distribution's GCC and newlib. The toolchain file of a CPU sets GOLDCREST_CPU_FLAGS and
# includes this one.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
# Compiler checks link no program, because that would need a board's linker script.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
set(CMAKE_CXX_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
set(CMAKE_ASM_FLAGS_INIT "${GOLDCREST_CPU_FLAGS}")
