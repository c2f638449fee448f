# SPDX-License-Identifier: Apache-2.0
# What tests of the engine share: models made from specs, and engines around them.
add_library(goldcrest_test_support STATIC "${CMAKE_CURRENT_LIST_DIR}/support/engine_fixture.cc"
  "${CMAKE_CURRENT_LIST_DIR}/support/tiny_model.cc")
target_compile_features(goldcrest_test_support PUBLIC cxx_std_20)
target_compile_options(goldcrest_test_support PRIVATE -ffp-contract=off)
target_include_directories(goldcrest_test_support PUBLIC "${CMAKE_CURRENT_LIST_DIR}" "${CMAKE_CURRENT_LIST_DIR}/..")
target_link_libraries(goldcrest_test_support PUBLIC goldcrest_pack)
goldcrest_warnings(goldcrest_test_support)
