# SPDX-License-Identifier: Apache-2.0
# No step takes more instructions than worst_step.h says, with the models of the example firmware.
if(NOT GOLDCREST_BOARD_RUN OR CMAKE_CXX_FLAGS MATCHES "-mfloat-abi=soft|-mabi=ilp32 ")
  return()
endif()

# goldcrest_worst_step_test(name LABEL MODEL SEARCHES LIMIT...): SEARCHES searches of each kind.
function(goldcrest_worst_step_test name label model searches)
  goldcrest_cxx_program(${name} worst_step_test.cc board_main.cc)
  goldcrest_worst_step(${name})
  target_compile_definitions(${name} PRIVATE GOLDCREST_SEARCHES=${searches})
  goldcrest_add_model(TARGET ${name} FILE "${CMAKE_SOURCE_DIR}/examples/models/${model}" NAME stepped SECTION .model
    LIMITS ${ARGN})
  goldcrest_counted_test(${name} ${label} PROPERTIES TIMEOUT 600)
endfunction()
goldcrest_worst_step_test(worst_step_test fast g2p-small 4 max-source=9 max-target=12 beam-size=4 encoder-rows=2)
goldcrest_worst_step_test(worst_step_g2p_test full g2p 4 max-source=25 max-target=33 beam-size=4 encoder-rows=2)
if(GOLDCREST_BOARD STREQUAL "mps3-an547")  # the one with memory for 8 MB of model
  goldcrest_worst_step_test(worst_step_enfr_test full enfr 2 max-source=16 max-target=16 beam-size=4 encoder-rows=4)
endif()
