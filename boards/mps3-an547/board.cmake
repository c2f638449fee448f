# SPDX-License-Identifier: Apache-2.0
# Arm MPS3 with the image AN547: Cortex-M55 with Helium, 32 MHz, all code in the secure state.
goldcrest_mps_board(mps3-an547 32000000 0x59303000u)
