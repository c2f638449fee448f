# SPDX-License-Identifier: Apache-2.0
# Arm MPS2+ with the image AN505: Cortex-M33 with FPU, 20 MHz, all code in the secure state.
goldcrest_mps_board(mps2-an505 20000000 0x50200000u)
