# SPDX-License-Identifier: Apache-2.0
# Faults of a device: the power fails during an update of its model, bits flip while an engine works.
if(NOT GOLDCREST_BOARD_RUN OR NOT TARGET model_update)
  return()
endif()

# The power fails during an update (examples/model_update).
set(model_update "${CMAKE_SOURCE_DIR}/examples/model_update")
goldcrest_cxx_program(update_test update_test.cc "${model_update}/model_slots.c" "${model_update}/model_update.c"
  "${model_update}/simulated_flash.c")
target_include_directories(update_test PRIVATE "${model_update}")
get_target_property(definitions model_update COMPILE_DEFINITIONS)
if(definitions)
  target_compile_definitions(update_test PRIVATE ${definitions})
endif()
goldcrest_golden_run(update_test 50 g2p g2p.gcst g2p.hash)
goldcrest_add_model(TARGET update_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p-small" NAME small SECTION .model
  LIMITS max-source-bytes=64 beam-size=1)
goldcrest_board_test(update_test full)

# A bit flips between two steps of a search, in the model or in the arena. After a fault that ends the program, the
# script starts it again.
if(NOT GOLDCREST_BOARD STREQUAL "mps2-an500")
  return()
endif()
goldcrest_cxx_program(fault_test fault_test.cc)
target_link_options(fault_test PRIVATE -Wl,--wrap=SysTick_Handler)
target_compile_definitions(fault_test PRIVATE GOLDCREST_FLIPS=50)
goldcrest_add_model(TARGET fault_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p-small" NAME g2p SECTION .model
  LIMITS max-source=25 max-source-bytes=24 max-target=33 beam-size=4 encoder-rows=2)
add_test(NAME fault_test COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/faults.sh" "${CMAKE_CURRENT_BINARY_DIR}/faults.txt"
  ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:fault_test>)
set_tests_properties(fault_test PROPERTIES LABELS full TIMEOUT 1800)
