# SPDX-License-Identifier: Apache-2.0
goldcrest_test(programs_bench_test SOURCES bench_test.cc LIBRARIES goldcrest_programs goldcrest_mapped_file
  goldcrest_thread_pool goldcrest_test_support)
target_compile_definitions(programs_bench_test PRIVATE "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\"")
add_dependencies(programs_bench_test goldcrest-bench)
goldcrest_test(programs_bench_report_test SOURCES bench_report_test.cc "${CMAKE_SOURCE_DIR}/examples/bench/kernel_recorder.cc"
  "${CMAKE_SOURCE_DIR}/examples/bench/report.cc" "${CMAKE_SOURCE_DIR}/examples/bench/report_text.cc" LIBRARIES goldcrest_programs goldcrest::goldcrest)
target_include_directories(programs_bench_report_test PRIVATE "${CMAKE_SOURCE_DIR}/engine")
goldcrest_test(programs_bench_json_test SOURCES bench_json_test.cc "${CMAKE_SOURCE_DIR}/examples/bench/host.cc"
  LIBRARIES goldcrest_programs goldcrest_test_support)
target_compile_definitions(programs_bench_json_test PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\""
  "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\"")
add_dependencies(programs_bench_json_test goldcrest-bench)
goldcrest_test(programs_predictions_test SOURCES predictions_test.cc LIBRARIES goldcrest_programs goldcrest_test_support)
target_compile_definitions(programs_predictions_test PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\""
  "GOLDCREST_PREDICTIONS_PROGRAM=\"$<TARGET_FILE:goldcrest-predictions>\"")
add_dependencies(programs_predictions_test goldcrest-predictions)
