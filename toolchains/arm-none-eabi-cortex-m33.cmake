# SPDX-License-Identifier: Apache-2.0
# Cortex-M33 with FPU and DSP instructions.
set(GOLDCREST_CPU_FLAGS "-mthumb -mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
