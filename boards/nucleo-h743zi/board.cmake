# SPDX-License-Identifier: Apache-2.0
# ST NUCLEO-H743ZI: Cortex-M7, 2 MB of flash. Tests build and link programs for it; none runs.
goldcrest_board_sources()
