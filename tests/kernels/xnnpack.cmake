# SPDX-License-Identifier: Apache-2.0
# Compares the XNNPACK backend with the exact tables, in every build that includes it.
goldcrest_test(xnnpack_linear_test SOURCES xnnpack_linear_test.cc LIBRARIES goldcrest::xnnpack)
if(GOLDCREST_CONVERTER)
  set(with LIBRARIES goldcrest_test_support goldcrest::xnnpack)
  goldcrest_test(xnnpack_engine_test SOURCES xnnpack_engine_test.cc xnnpack_session.cc ${with})
  goldcrest_test(xnnpack_heap_test SOURCES xnnpack_heap_test.cc xnnpack_session.cc ../support/heap_calls.cc ${with})
  goldcrest_test(xnnpack_foreign_test SOURCES xnnpack_foreign_test.cc ${with})
endif()

# A fetched XNNPACK has no installed version to find.
if(NOT CMAKE_CROSSCOMPILING AND NOT GOLDCREST_XNNPACK_FETCH)
  get_target_property(libraries goldcrest_xnnpack_dependencies INTERFACE_LINK_LIBRARIES)
  goldcrest_script_test(xnnpack_interface fast xnnpack_interface.sh "${CMAKE_SOURCE_DIR}"
    "${CMAKE_CURRENT_BINARY_DIR}/xnnpack_interface" "${CMAKE_BINARY_DIR}/engine/xnnpack_include" ${libraries})
endif()

# Runs on the shipped models, this build's or those of GOLDCREST_GOLDEN_FOLDER. The full tests use all validation lines.
goldcrest_kernel_program(xnnpack_agreement xnnpack_agreement.cc xnnpack_session.cc ../support/engine_fixture.cc)
target_link_libraries(xnnpack_agreement PRIVATE goldcrest::xnnpack)
foreach(task enfr g2p)
  if(GOLDCREST_GOLDEN_FOLDER)
    set(model "${GOLDCREST_GOLDEN_FOLDER}/${task}.gcst")
  elseif(GOLDCREST_CONVERTER)
    set(model "${CMAKE_CURRENT_BINARY_DIR}/golden/${task}.gcst")
  else()
    break()
  endif()
  set(files "${model}" "${CMAKE_SOURCE_DIR}/tests/data/${task}/valid.tsv")
  goldcrest_command_test(xnnpack_agreement_${task} fast xnnpack_agreement ${files})
  goldcrest_command_test(xnnpack_agreement_${task}_fastest fast xnnpack_agreement ${files} fastest)
  set(tests xnnpack_agreement_${task} xnnpack_agreement_${task}_fastest)
  if(NOT CMAKE_CROSSCOMPILING)  # an emulator would take minutes
    goldcrest_command_test(xnnpack_agreement_${task}_all full xnnpack_agreement --all ${files})
    list(APPEND tests xnnpack_agreement_${task}_all)
  endif()
  if(NOT GOLDCREST_GOLDEN_FOLDER)
    set_tests_properties(${tests} PROPERTIES FIXTURES_REQUIRED golden_${task})
  endif()
endforeach()

# A float32 file through XNNPACK's float operators.
if(GOLDCREST_CONVERTER)
  set(model "${CMAKE_CURRENT_BINARY_DIR}/xnnpack_float32.gcst")
  goldcrest_command_test(xnnpack_float32_model fast goldcrest-convert --quiet "${CMAKE_SOURCE_DIR}/examples/models/g2p"
    --weights float32 -o "${model}" PROPERTIES FIXTURES_SETUP xnnpack_float32)
  goldcrest_command_test(xnnpack_agreement_float32 fast xnnpack_agreement "${model}"
    "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv" PROPERTIES FIXTURES_REQUIRED xnnpack_float32)
endif()
