# SPDX-License-Identifier: Apache-2.0
# Cortex-M55 with FPU and Helium (MVE, integer and float).
set(GOLDCREST_CPU_FLAGS "-mthumb -mcpu=cortex-m55 -mfloat-abi=hard")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
