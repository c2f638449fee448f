# SPDX-License-Identifier: Apache-2.0
# The target `instructions` counts the instructions of kernels and searches on the board and prints them. Tests hold the
# linear layer's rates to their floors, and searches to their limits.
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()
goldcrest_board_program(instructions_program instructions.cc counted_work.cc)
set_target_properties(instructions_program PROPERTIES EXCLUDE_FROM_ALL TRUE)
set(counted_model FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
  LIMITS max-source=25 max-source-bytes=64 max-target=33 beam-size=4 encoder-rows=2)
goldcrest_add_model(TARGET instructions_program ${counted_model})
if(GOLDCREST_BOARD STREQUAL "mps3-an547")  # the one with memory for its arena, too
  target_compile_definitions(instructions_program PRIVATE GOLDCREST_COUNT_ENFR)
  goldcrest_add_model(TARGET instructions_program FILE "${CMAKE_SOURCE_DIR}/examples/models/enfr" SECTION .model
    LIMITS max-source=32 max-source-bytes=128 max-target=32 beam-size=4 encoder-rows=4)
endif()
add_custom_target(instructions COMMAND ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:instructions_program> -icount shift=0
  USES_TERMINAL VERBATIM)

# Without an FPU floats take most of the instructions, so no figure is promised there.
if(CMAKE_CXX_FLAGS MATCHES "-mfloat-abi=soft|-mabi=ilp32 ")
  return()
endif()
if(GOLDCREST_BOARD MATCHES "^(mps2-an500|mps3-an547|riscv-virt)$")
  goldcrest_board_program(search_cost_test search_cost_test.cc counted_work.cc board_main.cc)
  goldcrest_add_model(TARGET search_cost_test ${counted_model})
  goldcrest_counted_test(search_cost_test fast)
endif()

goldcrest_board_program(linear_rate_test linear_rate_test.cc counted_work.cc board_main.cc)
goldcrest_counted_test(linear_rate_test fast)
