# SPDX-License-Identifier: Apache-2.0
# The program that times kernels; built if its library is installed (Debian: libbenchmark-dev). It is never a test.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  goldcrest_kernel_program(kernel_benchmark kernel_benchmark.cc)
  target_link_libraries(kernel_benchmark PRIVATE benchmark::benchmark)
endif()
