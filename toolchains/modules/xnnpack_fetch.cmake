# SPDX-License-Identifier: Apache-2.0
# XNNPACK at the pinned commit, the one that Debian 13 packages, built with this project. Its own build fetches what it needs
# at the commits that it pins, and asks for Python. Offline: -DFETCHCONTENT_SOURCE_DIR_XNNPACK=FOLDER, CPUINFO_SOURCE_DIR,
# PTHREADPOOL_SOURCE_DIR and FXDIV_SOURCE_DIR name local copies.
include(FetchContent)
foreach(part TESTS BENCHMARKS ALL_MICROKERNELS)
  set(XNNPACK_BUILD_${part} OFF CACHE BOOL "" FORCE)
endforeach()
set(XNNPACK_ENABLE_KLEIDIAI OFF CACHE BOOL "" FORCE)  # it has kernels for 4-bit weights and for SME, which are not used here
set(XNNPACK_LIBRARY_TYPE static CACHE STRING "" FORCE)
FetchContent_Declare(XNNPACK
  GIT_REPOSITORY https://github.com/google/XNNPACK.git
  GIT_TAG 4ea82e595b36106653175dcb04b2aa532660d0d8)
FetchContent_MakeAvailable(XNNPACK)
# Warnings of XNNPACK's code are not ours to mend.
get_property(targets DIRECTORY "${xnnpack_SOURCE_DIR}" PROPERTY BUILDSYSTEM_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "^(INTERFACE_LIBRARY|UTILITY)$")
    target_compile_options(${target} PRIVATE -w)
  endif()
endforeach()
