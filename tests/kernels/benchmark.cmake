# SPDX-License-Identifier: Apache-2.0
# Programs that time kernels, where their libraries are installed (Debian: libbenchmark-dev, libxnnpack-dev). Never tests.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  goldcrest_kernel_program(kernel_benchmark kernel_benchmark.cc)
  target_link_libraries(kernel_benchmark PRIVATE benchmark::benchmark)
endif()

find_path(GOLDCREST_XNNPACK_INCLUDE xnnpack.h)
find_library(GOLDCREST_XNNPACK_LIBRARY XNNPACK)
find_library(GOLDCREST_CPUINFO cpuinfo)
if(GOLDCREST_XNNPACK_INCLUDE AND GOLDCREST_XNNPACK_LIBRARY AND GOLDCREST_CPUINFO AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  goldcrest_kernel_program(xnnpack_comparison xnnpack_comparison.cc)
  target_include_directories(xnnpack_comparison SYSTEM PRIVATE "${GOLDCREST_XNNPACK_INCLUDE}")
  target_link_libraries(xnnpack_comparison PRIVATE ${GOLDCREST_XNNPACK_LIBRARY} ${GOLDCREST_CPUINFO})
endif()
