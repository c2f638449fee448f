# SPDX-License-Identifier: Apache-2.0
# The target `instructions`: counts the instructions of kernels and searches on the board, and prints them. No test.
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()
goldcrest_board_program(instructions_program instructions.cc)
set_target_properties(instructions_program PROPERTIES EXCLUDE_FROM_ALL TRUE)
goldcrest_add_model(TARGET instructions_program FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
  LIMITS max-source=25 max-source-bytes=64 max-target=33 beam=4 encoder-rows=2)
add_custom_target(instructions COMMAND ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:instructions_program> -icount shift=0
  USES_TERMINAL VERBATIM)
