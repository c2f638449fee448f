# SPDX-License-Identifier: Apache-2.0
goldcrest_test(programs_bench_test SOURCES bench_test.cc LIBRARIES goldcrest_programs goldcrest_mapped_file
  goldcrest_thread_pool goldcrest_test_support)
target_compile_definitions(programs_bench_test PRIVATE "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\"")
add_dependencies(programs_bench_test goldcrest-bench)
goldcrest_test(programs_bench_report_test SOURCES bench_report_test.cc "${CMAKE_SOURCE_DIR}/examples/bench/kernel_recorder.cc"
  "${CMAKE_SOURCE_DIR}/examples/bench/report.cc" "${CMAKE_SOURCE_DIR}/examples/bench/report_text.cc" LIBRARIES goldcrest_programs goldcrest::goldcrest)
target_include_directories(programs_bench_report_test PRIVATE "${CMAKE_SOURCE_DIR}/engine")
