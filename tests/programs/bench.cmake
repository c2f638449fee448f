# SPDX-License-Identifier: Apache-2.0
goldcrest_test(programs_bench_test SOURCES bench_test.cc LIBRARIES goldcrest_programs goldcrest_mapped_file
  goldcrest_thread_pool)
target_compile_definitions(programs_bench_test PRIVATE "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\"")
add_dependencies(programs_bench_test goldcrest-bench)
