# SPDX-License-Identifier: Apache-2.0
# Cortex-M4 with its single-precision FPU.
set(GOLDCREST_CPU_FLAGS "-mthumb -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
