# SPDX-License-Identifier: Apache-2.0
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()
# Traces a whole word for tests/arm_cycles/run.sh --words: benchmark_firmware with markers.
add_executable(word_trace EXCLUDE_FROM_ALL ../../examples/benchmark_firmware/main.c ../arm_cycles/word_trace.cc)
target_compile_features(word_trace PRIVATE cxx_std_20)
target_compile_options(word_trace PRIVATE -ffunction-sections -fdata-sections)
target_include_directories(word_trace PRIVATE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/tests"
  "${CMAKE_SOURCE_DIR}/examples/benchmark_firmware")
goldcrest_worst_step(word_trace)
target_link_libraries(word_trace PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_console_text)
goldcrest_add_model(TARGET word_trace FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
  LIMITS max-source=25 max-source-bytes=24 max-target=33 encoder-rows=2 beam-size=4)
