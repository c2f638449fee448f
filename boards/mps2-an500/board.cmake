# SPDX-License-Identifier: Apache-2.0
# Arm MPS2 with the image AN500: Cortex-M7 with FPU, 25 MHz.
goldcrest_mps_board(mps2-an500 25000000 0x40004000u)
