# SPDX-License-Identifier: Apache-2.0
# ST NUCLEO-H743ZI: Cortex-M7, 2 MB of flash. Built and linked; not executed here.
goldcrest_board_sources("${goldcrest_boards}/common/halt_exit.c")
