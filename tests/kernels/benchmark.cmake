# SPDX-License-Identifier: Apache-2.0
# The kernel benchmark, where Google Benchmark is installed (Debian: libbenchmark-dev). Never a test.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  goldcrest_kernel_program(kernel_benchmark kernel_benchmark.cc)
  target_link_libraries(kernel_benchmark PRIVATE benchmark::benchmark)
endif()
