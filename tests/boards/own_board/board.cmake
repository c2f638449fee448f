# SPDX-License-Identifier: Apache-2.0
# ST STM32F401xC: Cortex-M4F, 256 KB of flash, 64 KB of RAM. QEMU has its larger sibling, the STM32F405 of the Netduino
# Plus 2, with the same registers at the same addresses.
goldcrest_board_sources("${goldcrest_boards}/common/cortexm/semihosting_exit.c")
set(GOLDCREST_BOARD_RUN qemu-system-arm -M netduinoplus2 -display none -monitor none -serial stdio
  -semihosting-config enable=on,target=native -kernel)
