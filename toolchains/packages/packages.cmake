# SPDX-License-Identifier: Apache-2.0
# The target goldcrest_packages writes ${PROJECT_BINARY_DIR}/packages: the engine as a package of each ecosystem
# (README.md). All come from the source folder (source_folder.cmake), the options of base/features.cmake, and the
# project's version and description; in a build for web pages the npm package, from the module that this build compiles.
# As a script (cmake -P) it does the writing; SOURCE, OUTPUT, SOURCES (the source folder), MODEL (the example's model)
# and WEB (the module's, instead of the last two) are folders.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(GOLDCREST_PACKAGE_URL "" CACHE STRING "Where the packages' project is found; registries ask for it")
  set(GOLDCREST_PACKAGE_CONTACT "Goldcrest maintainers <maintainers@example.org>" CACHE STRING "Maintainer of packages")
  if(GOLDCREST_WEB)
    set(contents "-DWEB=${GOLDCREST_WEB_FOLDER}")
    set(prepared goldcrest_web goldcrest_web_page)
  elseif(TARGET goldcrest-convert)
    set(model "${PROJECT_BINARY_DIR}/packages_model")
    set(checkpoint "${PROJECT_SOURCE_DIR}/examples/models/g2p-small")
    # With 16 letters at a time two cores share the encoder of a long word.
    set(limits --max-source 25 --max-source-bytes 32 --max-target 33 --beam-size 1 --encoder-rows 16)
    set(contents "-DSOURCES=${PROJECT_BINARY_DIR}/goldcrest_sources" "-DMODEL=${model}")
    set(prepared goldcrest_source_folder goldcrest_packages_model)
    add_custom_target(goldcrest_packages_model
      COMMAND goldcrest-convert -q "${checkpoint}" --name g2p_small --emit-c "${model}" --array ${limits}
      COMMAND goldcrest-convert -q "${checkpoint}" --name g2p_small -o "${model}/g2p_small.gcst" ${limits} VERBATIM)
  else()
    return()
  endif()
  add_custom_target(goldcrest_packages
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${PROJECT_SOURCE_DIR}" ${contents} "-DOUTPUT=${PROJECT_BINARY_DIR}/packages"
      "-DVERSION=${PROJECT_VERSION}" "-DDESCRIPTION=${PROJECT_DESCRIPTION}" "-DURL=${GOLDCREST_PACKAGE_URL}"
      "-DCONTACT=${GOLDCREST_PACKAGE_CONTACT}" -P "${CMAKE_CURRENT_LIST_FILE}" VERBATIM)
  add_dependencies(goldcrest_packages ${prepared})
  return()
endif()
cmake_policy(VERSION 3.22)

set(room "${SOURCE}/toolchains/packages")
include("${SOURCE}/engine/base/features.cmake")
file(REMOVE_RECURSE "${OUTPUT}")
set(license "Apache-2.0")
string(REGEX REPLACE " *<.*" "" maintainer "${CONTACT}")

# Lists texts, each with `before` and `after` around it.
function(goldcrest_lines output before after)
  set(lines "")
  foreach(text IN LISTS ARGN)
    string(APPEND lines "${before}${text}${after}")
  endforeach()
  set(${output} "${lines}" PARENT_SCOPE)
endfunction()

# Copies the engine to `folder`: headers to include/, sources to source/, the licence.
function(goldcrest_copy_engine folder)
  file(COPY "${SOURCES}/include" "${SOURCES}/source" "${SOURCES}/LICENSE" DESTINATION "${folder}")
endfunction()

# Copies the example to `folder`: `main`, a file of example/, as `name`; the shared part; the model as an array.
function(goldcrest_copy_example folder main name)
  file(COPY "${room}/example/pronounce.c" "${room}/example/pronounce.h" "${MODEL}/model_g2p_small.c"
    "${MODEL}/model_g2p_small.h" DESTINATION "${folder}")
  configure_file("${room}/example/${main}" "${folder}/${name}" COPYONLY)
endfunction()

# Writes the README of a package: the section of README.md called `section`, then common_sections.
function(goldcrest_write_readme folder section)
  file(READ "${room}/README.md" page)
  set(text "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Goldcrest ${VERSION}: ${section}\n\n")
  string(APPEND text "${DESCRIPTION}. The licence is ${license}.\n")
  foreach(heading IN LISTS section common_sections)
    string(FIND "${page}" "\n## ${heading}\n" start)
    if(start EQUAL -1)
      message(FATAL_ERROR "README.md has no section '${heading}'")
    endif()
    string(SUBSTRING "${page}" ${start} -1 part)
    string(REGEX REPLACE "^\n## [^\n]*\n" "" part "${part}")
    string(FIND "${part}" "\n## " end)
    string(SUBSTRING "${part}" 0 ${end} part)
    if(NOT heading STREQUAL section)
      string(PREPEND part "\n## ${heading}\n")
    endif()
    string(APPEND text "${part}")
  endforeach()
  file(WRITE "${folder}/README.md" "${text}")
endfunction()

if(WEB)
  include("${room}/npm.cmake")
  return()
endif()

# The files of every build without an operating system, in the source folder.
file(STRINGS "${SOURCES}/sources.txt" base_sources)
set(common_sections "What every package needs to know")

# The options in the languages of the ecosystems. cmake_features: CMake code that adds to goldcrest_definitions;
# `prefix` is before an option's name (CONFIG_ of Kconfig). macros and macro_rules: of C.
foreach(text cmake_features cmake_options kconfig_features macros macro_rules)
  set(${text} "")
endforeach()
foreach(option IN LISTS GOLDCREST_ENGINE_OPTIONS)
  string(APPEND cmake_features "if(@prefix@${option})\n  list(APPEND goldcrest_definitions ${option})\nendif()\n")
  string(APPEND cmake_options "option(${option} \"${${option}_HELP}\" OFF)\n")
  string(APPEND kconfig_features "config ${option}\n\tbool \"${${option}_HELP}\"\n")
  string(APPEND macros "// ${${option}_HELP}:\n// #define ${option}\n")
  foreach(other IN LISTS ${option}_TURNS_ON)
    string(APPEND cmake_options "if(${option})\n  set(${other} ON)\nendif()\n")
    string(APPEND kconfig_features "\tselect ${other}\n")
    string(APPEND macro_rules "#if defined(${option}) && !defined(${other})\n#define ${other}\n#endif\n")
  endforeach()
  string(APPEND kconfig_features "\n")
endforeach()

# Sets cmake_sources in the caller: CMake code that sets goldcrest_sources and goldcrest_definitions. `to_root` leads
# from its file's folder to the package's root, and ends with a slash if it is not empty.
function(goldcrest_cmake_sources to_root prefix)
  goldcrest_lines(files "\n  \"\${CMAKE_CURRENT_LIST_DIR}/${to_root}" "\"" ${base_sources})
  string(REPLACE "@to_root@" "${to_root}" features "${cmake_features}")
  string(REPLACE "@prefix@" "${prefix}" features "${features}")
  set(cmake_sources "set(goldcrest_sources${files})\nset(goldcrest_definitions \"\")\n${features}" PARENT_SCOPE)
endfunction()

foreach(ecosystem esp_idf pico_sdk zephyr arduino cmsis_pack)
  include("${room}/${ecosystem}.cmake")
endforeach()
message(STATUS "Written: ${OUTPUT}")
