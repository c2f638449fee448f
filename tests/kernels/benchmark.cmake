# SPDX-License-Identifier: Apache-2.0
# Programs that time kernels; built if their libraries are installed (Debian: libbenchmark-dev, libxnnpack-dev). They
# are never tests.
find_package(benchmark QUIET)
if(benchmark_FOUND)
  goldcrest_kernel_program(kernel_benchmark kernel_benchmark.cc)
  target_link_libraries(kernel_benchmark PRIVATE benchmark::benchmark)
endif()

# On x86 the cpuinfo of the same XNNPACK limits XNNPACK to a table's instructions.
if(NOT GOLDCREST_HAS_XNNPACK)
  return()
endif()
set(cpuinfo "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  find_path(GOLDCREST_CPUINFO_INCLUDE cpuinfo.h)
  find_library(GOLDCREST_CPUINFO cpuinfo)
  if(GOLDCREST_XNNPACK_ROOT OR GOLDCREST_XNNPACK_FETCH OR NOT GOLDCREST_CPUINFO_INCLUDE OR NOT GOLDCREST_CPUINFO)
    return()
  endif()
  set(cpuinfo ${GOLDCREST_CPUINFO})
endif()
goldcrest_kernel_program(xnnpack_comparison xnnpack_comparison.cc)
target_link_libraries(xnnpack_comparison PRIVATE goldcrest_xnnpack_dependencies ${cpuinfo})
