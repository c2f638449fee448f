# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 with the image AN386: Cortex-M4 with FPU, 25 MHz.
goldcrest_mps_board(mps2-an386 25000000 0x40004000u)
