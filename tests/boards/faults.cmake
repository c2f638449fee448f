# SPDX-License-Identifier: Apache-2.0
# What goes wrong on a device: the power during an update of its model, bits that flip while an engine works.
if(NOT GOLDCREST_BOARD_RUN OR NOT TARGET model_update)
  return()
endif()

# The power goes during an update (examples/model_update).
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
  LIMITS max-source-bytes=64 beam=1)
goldcrest_board_test(update_test full)
