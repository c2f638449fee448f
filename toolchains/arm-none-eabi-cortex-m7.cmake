# SPDX-License-Identifier: Apache-2.0
# Cortex-M7 with its double-precision FPU.
set(GOLDCREST_CPU_FLAGS "-mthumb -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
