# SPDX-License-Identifier: Apache-2.0
# The program that tests/arm_cycles/cortexm.sh traces. GOLDCREST_CMSIS_NN is a checkout whose functions it calls, too.
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()
goldcrest_board_program(cortexm_trace ../arm_cycles/cortexm_trace.cc)
set_target_properties(cortexm_trace PROPERTIES EXCLUDE_FROM_ALL TRUE)
set(GOLDCREST_CMSIS_NN "" CACHE PATH "Checkout of CMSIS-NN, to trace beside ours")
if(GOLDCREST_CMSIS_NN)
  add_library(cmsis_nn_products OBJECT EXCLUDE_FROM_ALL
    "${GOLDCREST_CMSIS_NN}/Source/NNSupportFunctions/arm_nn_mat_mult_nt_t_s8.c"
    "${GOLDCREST_CMSIS_NN}/Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c")
  target_include_directories(cmsis_nn_products SYSTEM PUBLIC "${GOLDCREST_CMSIS_NN}/Include")
  target_compile_options(cmsis_nn_products PRIVATE -Ofast)  # as CMSIS-NN's own build does
  target_compile_definitions(cortexm_trace PRIVATE GOLDCREST_CMSIS_NN)
  target_link_libraries(cortexm_trace PRIVATE cmsis_nn_products)
endif()

# Traces a whole word for tests/arm_cycles/words.sh: benchmark_firmware with markers.
add_executable(word_trace EXCLUDE_FROM_ALL ../../examples/benchmark_firmware/main.c ../arm_cycles/word_trace.cc)
target_compile_features(word_trace PRIVATE cxx_std_20)
target_compile_options(word_trace PRIVATE -ffunction-sections -fdata-sections)
target_include_directories(word_trace PRIVATE "${CMAKE_SOURCE_DIR}" "${CMAKE_SOURCE_DIR}/tests"
  "${CMAKE_SOURCE_DIR}/examples/benchmark_firmware")
goldcrest_worst_step(word_trace)
target_link_libraries(word_trace PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_console_text)
goldcrest_add_model(TARGET word_trace FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
  LIMITS max-source=25 max-source-bytes=24 max-target=33 encoder-rows=2 beam=4)
