# SPDX-License-Identifier: Apache-2.0
# Raspberry Pi Pico 2: RP2350, Cortex-M33, 4 MB of flash. Tests build and link programs for it; none runs.
goldcrest_board_sources()
