# SPDX-License-Identifier: Apache-2.0
# The target goldcrest_source_folder writes goldcrest_sources in the build folder: the engine for builds without CMake.
# As a script (cmake -P) with SOURCE and OUTPUT it does the writing.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_custom_target(goldcrest_source_folder
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
      "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/goldcrest_sources" -P "${CMAKE_CURRENT_LIST_FILE}" VERBATIM)
  return()
endif()

file(REMOVE_RECURSE "${OUTPUT}")
file(COPY "${SOURCE}/engine/include" DESTINATION "${OUTPUT}" PATTERN xnnpack.h EXCLUDE)
file(COPY "${SOURCE}/LICENSE" DESTINATION "${OUTPUT}")
configure_file("${SOURCE}/toolchains/modules/source_folder.make" "${OUTPUT}/Makefile" COPYONLY)

file(GLOB_RECURSE sources RELATIVE "${SOURCE}/engine" "${SOURCE}/engine/*.cc" "${SOURCE}/engine/*.h")
list(FILTER sources EXCLUDE REGEX "^include/|^backends/xnnpack/|^host/")
foreach(file IN LISTS sources)
  configure_file("${SOURCE}/engine/${file}" "${OUTPUT}/source/${file}" COPYONLY)
endforeach()

# Without an operating system the compiler's macros choose one kernel table, so no file needs flags of its own.
list(FILTER sources INCLUDE REGEX "[.]cc$")
list(FILTER sources EXCLUDE REGEX "^kernels/(x86|arm)/")
set(bare_metal ${sources})
set(left_out kernels/select_runtime.cc kernels/riscv/rvv.cc)
include("${SOURCE}/engine/base/features.cmake")
set(features "")
foreach(option IN LISTS GOLDCREST_ENGINE_OPTIONS)
  string(APPEND features "| `-D${option}` | ${${option}_HELP} |\n")
endforeach()
list(REMOVE_ITEM bare_metal ${left_out})
list(TRANSFORM bare_metal REPLACE "(.+)" "source/\\1\n")
file(WRITE "${OUTPUT}/sources.txt" ${bare_metal})

# With an operating system the program asks the CPU which table to use. Each file's line ends with its flags.
list(FILTER sources EXCLUDE REGEX "^kernels/(select_static|cortexm/|riscv/|wasm/)")
include("${SOURCE}/engine/kernels/tables.cmake")
set(kernel_tables "")
list(TRANSFORM GOLDCREST_ENGINE_OPTIONS PREPEND "-D" OUTPUT_VARIABLE definitions)
string(JOIN " " definitions -DGOLDCREST_BACKENDS ${definitions})
foreach(machine x86_64 aarch64 armv7 riscv64)
  set(tables ${GOLDCREST_KERNEL_TABLES})
  list(FILTER tables INCLUDE REGEX "^${machine} ")
  list(TRANSFORM tables REPLACE "^${machine} " "")
  set(units ${sources} ${tables})
  list(TRANSFORM units REPLACE "^([^ ]+)(.*)$" "source/\\1 ${definitions}\\2\n")
  file(WRITE "${OUTPUT}/sources-${machine}.txt" ${units})
  list(TRANSFORM tables REPLACE "^([^ ]+) (.*)$" "| `sources-${machine}.txt` | `source/\\1` | `\\2` |\n")
  string(APPEND kernel_tables ${tables})
endforeach()
configure_file("${SOURCE}/toolchains/modules/source_folder.md" "${OUTPUT}/README.md" @ONLY)
file(WRITE "${OUTPUT}/flags.txt" "-std=c++17\n-fno-math-errno\n-fno-exceptions\n-fno-rtti\n"
  "-fno-threadsafe-statics\n-ffunction-sections\n-fdata-sections\n-Isource\n-Iinclude\n")

message(STATUS "Written: ${OUTPUT}")
