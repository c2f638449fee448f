# SPDX-License-Identifier: Apache-2.0
# Libraries that tests of the engine share: models made from specs, and engines around them.
add_library(goldcrest_test_support STATIC "${CMAKE_CURRENT_LIST_DIR}/support/engine_fixture.cc"
  "${CMAKE_CURRENT_LIST_DIR}/support/tiny_model.cc")
target_compile_features(goldcrest_test_support PUBLIC cxx_std_20)
target_compile_options(goldcrest_test_support PRIVATE -ffp-contract=off)
target_include_directories(goldcrest_test_support PUBLIC "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_LIST_DIR}/..")
target_link_libraries(goldcrest_test_support PUBLIC goldcrest_stages)
goldcrest_warnings(goldcrest_test_support)

# Checkpoints that tests write for themselves, without Python.
add_library(goldcrest_checkpoint_writer STATIC "${CMAKE_CURRENT_LIST_DIR}/support/checkpoint_writer.cc"
  "${CMAKE_CURRENT_LIST_DIR}/support/ctranslate2_model.cc" "${CMAKE_CURRENT_LIST_DIR}/support/marian_native.cc"
  "${CMAKE_CURRENT_LIST_DIR}/support/marian_tensors.cc" "${CMAKE_CURRENT_LIST_DIR}/support/voice_tensors.cc")
target_compile_features(goldcrest_checkpoint_writer PUBLIC cxx_std_20)
target_compile_options(goldcrest_checkpoint_writer PUBLIC -ffp-contract=off)
target_include_directories(goldcrest_checkpoint_writer PUBLIC "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/tests")
target_link_libraries(goldcrest_checkpoint_writer PUBLIC goldcrest_stages PRIVATE goldcrest_plain_z)
goldcrest_warnings(goldcrest_checkpoint_writer)

# goldcrest_test_parts(NAME SOURCE LIBRARIES...): code that several test programs share, compiled once. In fuzz targets
# it has no edges.
find_package(nlohmann_json REQUIRED)
function(goldcrest_test_parts name source)
  add_library(${name} STATIC "${CMAKE_SOURCE_DIR}/tests/${source}")
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_compile_options(${name} PRIVATE -ffp-contract=off $<$<BOOL:${GOLDCREST_FUZZ}>:-fno-sanitize=fuzzer-no-link>)
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}/engine" "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\""
    $<TARGET_PROPERTY:goldcrest,COMPILE_DEFINITIONS>)
  target_link_libraries(${name} PUBLIC ${ARGN} goldcrest::goldcrest GTest::gtest PRIVATE nlohmann_json::nlohmann_json)
  goldcrest_warnings(${name})
endfunction()
# Hostile files, and the checks that must hold for each.
goldcrest_test_parts(goldcrest_hostile_file unit/model/hostile_file.cc goldcrest_test_support)
# Tokenizers without a file, and lines for their tests.
goldcrest_test_parts(goldcrest_test_tokenizer unit/text/test_tokenizer.cc goldcrest_stages)
