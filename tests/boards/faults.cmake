# SPDX-License-Identifier: Apache-2.0
# A bit flips between two steps of a search, in the model or in the arena. After a fault that ends the program, the
# script starts it again.
if(NOT GOLDCREST_BOARD_RUN OR NOT GOLDCREST_BOARD STREQUAL "mps2-an500")
  return()
endif()
goldcrest_cxx_program(fault_test fault_test.cc)
target_link_options(fault_test PRIVATE -Wl,--wrap=SysTick_Handler)
target_compile_definitions(fault_test PRIVATE GOLDCREST_FLIPS=50)
goldcrest_add_model(TARGET fault_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p-small" NAME g2p SECTION .model
  LIMITS max-source=25 max-source-bytes=24 max-target=33 beam-size=4 encoder-rows=2)
goldcrest_script_test(fault_test full faults.sh "${CMAKE_CURRENT_BINARY_DIR}/faults.txt"
  ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:fault_test> PROPERTIES TIMEOUT 1800)
