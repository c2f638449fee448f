# SPDX-License-Identifier: Apache-2.0
# Converts a model at build time for the program that uses it, so that its bytes and the sizes in its header stay
# current.

# A project that adds Goldcrest as a folder does not see its version.
set_property(GLOBAL PROPERTY goldcrest_VERSION "${goldcrest_VERSION}")

# Finds the converter for this machine, and the dependencies that keep it up to date. In order of preference:
# -DGOLDCREST_CONVERT_EXECUTABLE=FILE; this build's own; one of this version that is built or in PATH; one that a
# separate build for this machine makes of the same sources, for which -DGOLDCREST_HOST_BUILD_FOLDER=FOLDER asks.
function(goldcrest_find_converter program_variable dependencies_variable)
  set(has_own FALSE)
  if(TARGET goldcrest-convert AND NOT CMAKE_CROSSCOMPILING)
    set(has_own TRUE)
  endif()
  if(NOT GOLDCREST_CONVERT_EXECUTABLE AND NOT GOLDCREST_HOST_BUILD_FOLDER AND NOT has_own)
    goldcrest_find_built_converter()
  endif()
  if(GOLDCREST_CONVERT_EXECUTABLE)
    set(program "${GOLDCREST_CONVERT_EXECUTABLE}")
    set(dependencies "${program}")
  elseif(has_own)
    set(program $<TARGET_FILE:goldcrest-convert>)
    set(dependencies goldcrest-convert)
  elseif(goldcrest_SOURCE_DIR)
    goldcrest_build_host_converter(program)
    set(dependencies goldcrest_host_converter "${program}")
  else()
    message(FATAL_ERROR "goldcrest_add_model: no goldcrest-convert of this version for this machine was found; "
      "build one from Goldcrest's sources and name it with -DGOLDCREST_CONVERT_EXECUTABLE=FILE")
  endif()
  set(${program_variable} "${program}" PARENT_SCOPE)
  set(${dependencies_variable} "${dependencies}" PARENT_SCOPE)
endfunction()

# Sets GOLDCREST_CONVERT_EXECUTABLE in the cache to a converter of this version, if there is one.
function(goldcrest_find_built_converter)
  set(folders "${GOLDCREST_PROGRAM_FOLDER}")
  foreach(build quickstart host)
    list(APPEND folders "${goldcrest_SOURCE_DIR}/build/${build}/converter")
  endforeach()
  find_program(GOLDCREST_CONVERT_EXECUTABLE goldcrest-convert HINTS ${folders} NO_CMAKE_FIND_ROOT_PATH
    DOC "The converter for this machine")
  if(NOT GOLDCREST_CONVERT_EXECUTABLE)
    return()
  endif()
  get_property(expected GLOBAL PROPERTY goldcrest_VERSION)
  execute_process(COMMAND "${GOLDCREST_CONVERT_EXECUTABLE}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "^goldcrest-convert ${expected}[ \n]")
    message(STATUS "Models are converted with ${GOLDCREST_CONVERT_EXECUTABLE}; "
      "-DGOLDCREST_HOST_BUILD_FOLDER=FOLDER builds a converter from these sources")
  else()
    message(STATUS "${GOLDCREST_CONVERT_EXECUTABLE} is not of version ${expected}; it is not used")
    unset(GOLDCREST_CONVERT_EXECUTABLE CACHE)
  endif()
endfunction()

# Adds the target goldcrest_host_converter: this machine's build of the converter, which every build brings up to date.
function(goldcrest_build_host_converter program_variable)
  set(folder "${goldcrest_BINARY_DIR}/host_converter")
  if(GOLDCREST_HOST_BUILD_FOLDER)
    set(folder "${GOLDCREST_HOST_BUILD_FOLDER}")
  endif()
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(is_multi_config)
    set(program "${folder}/converter/Release/goldcrest-convert")
  else()
    set(program "${folder}/converter/goldcrest-convert")
  endif()
  set(${program_variable} "${program}" PARENT_SCOPE)
  if(TARGET goldcrest_host_converter)
    return()
  endif()
  set(environment "")
  if(CMAKE_CROSSCOMPILING)
    # The variables may name the cross compiler.
    foreach(variable CC CXX CFLAGS CXXFLAGS LDFLAGS CMAKE_TOOLCHAIN_FILE)
      list(APPEND environment --unset=${variable})
    endforeach()
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  include(ExternalProject)
  ExternalProject_Add(goldcrest_host_converter
    PREFIX "${goldcrest_BINARY_DIR}/host_converter_steps"
    SOURCE_DIR "${goldcrest_SOURCE_DIR}"
    BINARY_DIR "${folder}"
    CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env ${environment} ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S <SOURCE_DIR>
      -B <BINARY_DIR> -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_CONVERTER=ON
      -DGOLDCREST_TESTS=OFF
    BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --config Release --target goldcrest-convert --parallel ${cores}
    BUILD_ALWAYS TRUE
    BUILD_BYPRODUCTS "${program}"
    INSTALL_COMMAND ""
    USES_TERMINAL_BUILD TRUE)
endfunction()

# Lists the files that a conversion reads: all files of a folder, or a weight file and the files that describe it.
function(goldcrest_input_files input files_variable)
  if(IS_DIRECTORY "${input}")
    file(GLOB files CONFIGURE_DEPENDS LIST_DIRECTORIES false "${input}/*")
  elseif(NOT EXISTS "${input}")
    message(FATAL_ERROR "goldcrest_add_model: FILE is ${input}, which does not exist; expected a checkpoint or a .gcst")
  elseif(input MATCHES "[.]gcst$")
    set(files "${input}")
  else()
    get_filename_component(folder "${input}" DIRECTORY)
    set(names "*.json" "*.yml" "*.yaml" "*.spm" "*.model" "*.txt")
    list(TRANSFORM names PREPEND "${folder}/")
    file(GLOB files CONFIGURE_DEPENDS ${names})
    list(APPEND files "${input}")
  endif()
  set(${files_variable} "${files}" PARENT_SCOPE)
endfunction()

# Translates LIMITS to options of goldcrest-convert.
function(goldcrest_limit_options options_variable)
  set(known max-source max-source-bytes max-target beam-size batch n-best encoder-rows inspection alignment-layers
    max-candidates)
  set(options "")
  foreach(limit IN LISTS ARGN)
    if(NOT limit MATCHES "^([a-z-]+)=([0-9]+)$" OR NOT CMAKE_MATCH_1 IN_LIST known)
      message(FATAL_ERROR "goldcrest_add_model: '${limit}' in LIMITS; expected NAME=NUMBER with one of ${known}")
    endif()
    list(APPEND options --${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  set(${options_variable} "${options}" PARENT_SCOPE)
endfunction()

# goldcrest_add_model(TARGET target FILE checkpoint-or-gcst [NAME name] [LIMITS max-source=25 max-target=33 ...]
#   [CPU cpu] [SECTION section] [BUDGET arena=48K,file=2M] [LEXICON lines.txt] [ARRAY])
#
# Gives `target`, of the same folder, the model's bytes and `#include "model_NAME.h"` (goldcrest-convert --emit-c). NAME
# defaults to the file's name. LIMITS are the converter's options: also beam-size, max-source-bytes, batch, n-best,
# encoder-rows, inspection, alignment-layers, max-candidates. LEXICON is the converter's --lexicon, for a checkpoint.
# CPU defaults to that of -mcpu in CMAKE_C_FLAGS. ARRAY: a C array, for projects that do not enable ASM or whose
# assembler lacks .incbin. The conversion's report is stored next to the header, as model_NAME.txt.
function(goldcrest_add_model)
  cmake_parse_arguments(arg "ARRAY" "TARGET;FILE;NAME;CPU;SECTION;BUDGET;LEXICON" "LIMITS" ${ARGN})
  if(NOT TARGET "${arg_TARGET}" OR NOT arg_FILE OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "goldcrest_add_model: expected TARGET with a target, FILE with a checkpoint or a .gcst file, "
      "and no other word than its options; found '${ARGN}'")
  endif()
  if(NOT arg_ARRAY AND NOT CMAKE_ASM_COMPILE_OBJECT)
    message(FATAL_ERROR "goldcrest_add_model: the language ASM is not enabled here; add it to "
      "project(... LANGUAGES ...), or give ARRAY for a C array")
  endif()
  get_filename_component(input "${arg_FILE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT arg_NAME)
    get_filename_component(arg_NAME "${input}" NAME_WE)
  endif()
  string(MAKE_C_IDENTIFIER "model_${arg_NAME}" name)
  if(NOT arg_CPU)
    set(arg_CPU generic)
    if("${CMAKE_C_FLAGS}" MATCHES "-mcpu=(cortex-m[58]5)")
      set(arg_CPU ${CMAKE_MATCH_1})
    endif()
  endif()
  goldcrest_limit_options(options ${arg_LIMITS})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/goldcrest_models/${arg_TARGET}")
  list(APPEND options --name "${arg_NAME}" --cpu ${arg_CPU} --emit-c "${folder}")
  if(arg_SECTION)
    list(APPEND options --section "${arg_SECTION}")
  endif()
  if(arg_BUDGET)
    list(APPEND options --budget "${arg_BUDGET}")
  endif()
  if(arg_LEXICON)
    get_filename_component(arg_LEXICON "${arg_LEXICON}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND options --lexicon "${arg_LEXICON}")
  endif()
  set(source "${folder}/${name}.S")
  set(outputs "${source}" "${folder}/${name}.gcst" "${folder}/${name}.h")
  if(arg_ARRAY)
    list(APPEND options --array)
    set(source "${folder}/${name}.c")
    set(outputs "${source}" "${folder}/${name}.h")
  endif()

  goldcrest_find_converter(program dependencies)
  goldcrest_input_files("${input}" files)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT ${outputs}
    COMMAND sh -c [[report=$1 && shift && exec "$@" > "$report"]] sh "${folder}/${name}.txt" "${program}" "${input}"
      --verbose ${options}
    DEPENDS ${files} ${arg_LEXICON} ${dependencies}
    COMMENT "Converting ${arg_FILE}" VERBATIM)
  target_sources(${arg_TARGET} PRIVATE "${source}" "${folder}/${name}.h")
  target_include_directories(${arg_TARGET} PRIVATE "${folder}")
  if(NOT arg_ARRAY)
    # Compilers do not report the files that .incbin reads.
    set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${folder}/${name}.gcst")
  endif()
endfunction()
