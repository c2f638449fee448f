# SPDX-License-Identifier: Apache-2.0
# Zephyr: a module for EXTRA_ZEPHYR_MODULES, with a sample (packages.cmake).
set(folder "${OUTPUT}/zephyr/goldcrest")
set(sample "${folder}/samples/pronounce")
goldcrest_copy_engine("${folder}")
goldcrest_write_readme("${folder}" "Zephyr")
file(WRITE "${folder}/zephyr/module.yml" "# SPDX-License-Identifier: ${license}
name: goldcrest
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
samples:
  - samples
")
file(WRITE "${folder}/zephyr/Kconfig" "menuconfig GOLDCREST
\tbool \"Goldcrest ${VERSION}: ${DESCRIPTION}\"
\tselect CPP

if GOLDCREST

${kconfig_features}endif
")
goldcrest_cmake_sources("../" CONFIG_)
file(WRITE "${folder}/zephyr/CMakeLists.txt" "# SPDX-License-Identifier: ${license}
if(NOT CONFIG_GOLDCREST)
  return()
endif()
${cmake_sources}" [[

zephyr_include_directories("${CMAKE_CURRENT_LIST_DIR}/../include")
zephyr_library_named(goldcrest)
zephyr_library_sources(${goldcrest_sources})
zephyr_library_include_directories("${CMAKE_CURRENT_LIST_DIR}/../source")
if(goldcrest_definitions)
  zephyr_library_compile_definitions(${goldcrest_definitions})
endif()
# Options of files come after those of the kernel, whose default is an older C++.
set_source_files_properties(${goldcrest_sources} PROPERTIES COMPILE_OPTIONS "-std=c++17;-O2;-fno-math-errno")
]])
goldcrest_copy_example("${sample}/src" zephyr.c main.c)
file(WRITE "${sample}/CMakeLists.txt" [[
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.20)
list(APPEND EXTRA_ZEPHYR_MODULES "${CMAKE_CURRENT_LIST_DIR}/../..")
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(pronounce C CXX)
target_sources(app PRIVATE src/main.c src/pronounce.c src/model_g2p_small.c)
]])
file(WRITE "${sample}/prj.conf" "CONFIG_GOLDCREST=y\nCONFIG_FPU=y\nCONFIG_MAIN_STACK_SIZE=8192\n")
file(WRITE "${sample}/sample.yaml" "sample:
  name: Goldcrest pronounces words
tests:
  goldcrest.pronounce:
    min_flash: 320
    min_ram: 48
    harness: console
    harness_config:
      type: one_line
      regex:
        - \"goldcrest: G OW1 L D K R EH2 S T\"
")
