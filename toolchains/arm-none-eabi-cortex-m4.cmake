# SPDX-License-Identifier: Apache-2.0
# Cortex-M4 without an FPU: the compiler's own functions compute floats.
set(GOLDCREST_CPU_FLAGS "-mthumb -mcpu=cortex-m4 -mfloat-abi=soft")
include("${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake")
