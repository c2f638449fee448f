# SPDX-License-Identifier: Apache-2.0
# Compiler settings for the converter's libraries.
include("${CMAKE_CURRENT_LIST_DIR}/../engine/base/features.cmake")
# goldcrest_converter_library(NAME [COMPUTES] SOURCES...). A source may be a pattern.
function(goldcrest_converter_library name)
  set(sources ${ARGN})
  list(REMOVE_ITEM sources COMPUTES)
  file(GLOB sources CONFIGURE_DEPENDS ${sources})
  add_library(${name} STATIC ${sources})
  goldcrest_quick_build(${name} ${ARGN})
  target_compile_features(${name} PUBLIC cxx_std_20)
  # No contraction here either, so that every machine writes the same file.
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  # It writes files for engines of every build.
  target_compile_definitions(${name} PRIVATE ${GOLDCREST_ENGINE_OPTIONS})
  target_include_directories(${name} PUBLIC "${goldcrest_SOURCE_DIR}/converter" "${goldcrest_SOURCE_DIR}/engine"
    "${goldcrest_SOURCE_DIR}/engine/include")
  goldcrest_warnings(${name})
endfunction()

# goldcrest_program(NAME SOURCES ... LIBRARIES ...): the program goldcrest-NAME. The wheel has all programs in one, so a
# library has the same sources, with goldcrest_NAME_main in place of main.
function(goldcrest_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(goldcrest-${name} ${arg_SOURCES})
  add_library(goldcrest_${name}_program STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_compile_definitions(goldcrest_${name}_program PRIVATE main=goldcrest_${name}_main)
  foreach(target goldcrest-${name} goldcrest_${name}_program)
    goldcrest_quick_build(${target})
    target_compile_definitions(${target} PRIVATE _FILE_OFFSET_BITS=64)  # files of more than 2 GB, on 32-bit systems too
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
    goldcrest_warnings(${target})
  endforeach()
endfunction()

# Finds a library without CMake files, or with CMake files that lack the static library.
function(goldcrest_plain_library name header)
  if(GOLDCREST_STATIC)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  endif()
  find_library(GOLDCREST_LIBRARY_${name} ${name} REQUIRED)
  find_path(GOLDCREST_HEADER_${name} ${header} REQUIRED)
  add_library(goldcrest_plain_${name} INTERFACE)
  target_link_libraries(goldcrest_plain_${name} INTERFACE "${GOLDCREST_LIBRARY_${name}}")
  target_include_directories(goldcrest_plain_${name} SYSTEM INTERFACE "${GOLDCREST_HEADER_${name}}")
endfunction()
