# SPDX-License-Identifier: Apache-2.0
# XNNPACK for the backend of goldcrest/xnnpack.h. Sets GOLDCREST_HAS_XNNPACK and, with it, makes the target
# goldcrest_xnnpack_dependencies: XNNPACK and pthreadpool, from the system, from a folder or built here.
set(GOLDCREST_XNNPACK AUTO CACHE STRING "Build the XNNPACK backend: AUTO (where it is installed), ON, OFF")
set_property(CACHE GOLDCREST_XNNPACK PROPERTY STRINGS AUTO ON OFF)
set(GOLDCREST_XNNPACK_ROOT "" CACHE PATH
  "Folder with XNNPACK's usr/include and usr/lib, as toolchains/sysroot.sh makes one; empty: the system's")
option(GOLDCREST_XNNPACK_FETCH "Fetch XNNPACK at the pinned commit and build it" OFF)

set(GOLDCREST_HAS_XNNPACK OFF)
if(NOT GOLDCREST_XNNPACK MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "GOLDCREST_XNNPACK is '${GOLDCREST_XNNPACK}'; expected AUTO, ON or OFF")
endif()
if(GOLDCREST_XNNPACK STREQUAL "OFF" OR (GOLDCREST_XNNPACK STREQUAL "AUTO" AND CMAKE_SYSTEM_NAME STREQUAL "Generic"))
  return()
endif()

# Handles an XNNPACK that is missing or unsuitable: an error if the user asked for it.
function(goldcrest_no_xnnpack reason)
  if(NOT GOLDCREST_XNNPACK STREQUAL "AUTO")
    message(FATAL_ERROR "GOLDCREST_XNNPACK=ON: ${reason}. Install libxnnpack-dev of Debian 13 or later, or name a "
      "folder that has it with -DGOLDCREST_XNNPACK_ROOT=FOLDER (toolchains/sysroot.sh makes one), or build it with "
      "-DGOLDCREST_XNNPACK_FETCH=ON")
  endif()
  message(STATUS "XNNPACK backend: off, ${reason}")
endfunction()

if(GOLDCREST_XNNPACK_FETCH)
  # The commit that Debian 13 packages. XNNPACK's own build fetches what it needs at the commits that it pins, and asks
  # for Python. Offline: -DFETCHCONTENT_SOURCE_DIR_XNNPACK=FOLDER, CPUINFO_SOURCE_DIR, PTHREADPOOL_SOURCE_DIR and
  # FXDIV_SOURCE_DIR name local copies.
  include(FetchContent)
  foreach(part TESTS BENCHMARKS ALL_MICROKERNELS)
    set(XNNPACK_BUILD_${part} OFF CACHE BOOL "" FORCE)
  endforeach()
  set(XNNPACK_ENABLE_KLEIDIAI OFF CACHE BOOL "" FORCE)  # it has kernels for 4-bit weights and for SME, unused here
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
  add_library(goldcrest_xnnpack_dependencies INTERFACE)
  target_link_libraries(goldcrest_xnnpack_dependencies INTERFACE XNNPACK pthreadpool)
  set(GOLDCREST_HAS_XNNPACK ON)
  return()
endif()

# If a folder is given, only that is searched: a cross compiler's default places hold this machine's libraries.
set(places "")
if(GOLDCREST_XNNPACK_ROOT)
  file(GLOB library_folders "${GOLDCREST_XNNPACK_ROOT}/usr/lib/*-linux-gnu*")
  set(places PATHS "${GOLDCREST_XNNPACK_ROOT}/usr/include" ${library_folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
elseif(CMAKE_CROSSCOMPILING AND GOLDCREST_XNNPACK STREQUAL "AUTO")
  return()
endif()
find_path(xnnpack_include xnnpack.h NO_CACHE ${places})
find_library(xnnpack_library XNNPACK NO_CACHE ${places})
find_library(pthreadpool_library pthreadpool NO_CACHE ${places})
if(NOT xnnpack_include OR NOT xnnpack_library OR NOT pthreadpool_library)
  goldcrest_no_xnnpack("there is no libxnnpack-dev of 2024-11-08 or later (Debian 13) with libpthreadpool-dev")
  return()
endif()
file(STRINGS "${xnnpack_include}/xnnpack.h" operators REGEX "xnn_create_fully_connected_nc_qd8_f32_qc8w")
if(NOT operators)
  goldcrest_no_xnnpack("${xnnpack_include}/xnnpack.h has no dynamically quantized operators, it is from before 2024")
  return()
endif()

# Links the two headers into a folder of their own, because the folder that has them may hold another C library's
# headers.
set(include_folder "${CMAKE_CURRENT_BINARY_DIR}/xnnpack_include")
file(MAKE_DIRECTORY "${include_folder}")
foreach(header xnnpack.h pthreadpool.h)
  file(CREATE_LINK "${xnnpack_include}/${header}" "${include_folder}/${header}" SYMBOLIC)
endforeach()
if(GOLDCREST_XNNPACK STREQUAL "AUTO")
  # A version with another interface than the adapter knows is left out. If it was asked for, the build shows errors.
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  set(engine "${CMAKE_CURRENT_SOURCE_DIR}")
  try_compile(GOLDCREST_XNNPACK_FITS "${CMAKE_CURRENT_BINARY_DIR}/xnnpack_fits"
    SOURCES "${engine}/backends/xnnpack/adapter.cc" CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON
    CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${include_folder};${engine};${engine}/include")
  unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
  if(NOT GOLDCREST_XNNPACK_FITS)
    goldcrest_no_xnnpack("the interface in ${xnnpack_include}/xnnpack.h is not one of those that its adapter knows")
    return()
  endif()
endif()
add_library(goldcrest_xnnpack_dependencies INTERFACE)
target_include_directories(goldcrest_xnnpack_dependencies SYSTEM INTERFACE "${include_folder}")
target_link_libraries(goldcrest_xnnpack_dependencies INTERFACE "${xnnpack_library}" "${pthreadpool_library}")
if(GOLDCREST_XNNPACK_ROOT)
  # The libraries need their own C library, so programs start with its loader and search there first.
  get_filename_component(library_folder "${xnnpack_library}" DIRECTORY)
  file(GLOB loader "${library_folder}/ld-linux*.so.*")
  target_link_options(goldcrest_xnnpack_dependencies INTERFACE "-Wl,--dynamic-linker=${loader}"
    -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags "-Wl,-rpath,${library_folder}")
  if(CMAKE_CROSSCOMPILING)
    # Programs run under the folder's emulator, which has no C++ library.
    file(GLOB emulator "${GOLDCREST_XNNPACK_ROOT}/usr/bin/qemu-*")
    set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator} -L "${GOLDCREST_XNNPACK_ROOT}" PARENT_SCOPE)
    target_link_options(goldcrest_xnnpack_dependencies INTERFACE -static-libstdc++ -static-libgcc)
  endif()
endif()
set(GOLDCREST_HAS_XNNPACK ON)
message(STATUS "XNNPACK backend: on, ${xnnpack_library}")
