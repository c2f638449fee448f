# SPDX-License-Identifier: Apache-2.0
# ESP-IDF: a component with an example project (packages.cmake).
set(folder "${OUTPUT}/esp-idf/goldcrest")
set(example "${folder}/examples/pronounce")
goldcrest_copy_engine("${folder}")
goldcrest_write_readme("${folder}" "ESP-IDF")
set(url "")
if(URL)
  set(url "url: \"${URL}\"\n")
endif()
file(WRITE "${folder}/idf_component.yml" "# SPDX-License-Identifier: ${license}
version: \"${VERSION}\"
description: \"${DESCRIPTION}\"
${url}license: \"${license}\"
tags:
  - transformer
  - inference
  - int8
dependencies:
  idf:
    version: \">=5.0\"
")
file(WRITE "${folder}/Kconfig" "menu \"Goldcrest\"\n\n${kconfig_features}endmenu\n")
goldcrest_cmake_sources("" CONFIG_)
file(WRITE "${folder}/CMakeLists.txt" "# SPDX-License-Identifier: ${license}\n${cmake_sources}" [[

idf_component_register(SRCS ${goldcrest_sources} INCLUDE_DIRS include PRIV_INCLUDE_DIRS source)
target_compile_definitions(${COMPONENT_LIB} PRIVATE ${goldcrest_definitions})
# Whatever the project's optimization is; without -fno-math-errno a square root would be a call.
target_compile_options(${COMPONENT_LIB} PRIVATE -O2 -fno-math-errno)
]])

goldcrest_copy_example("${example}/main" esp_idf.c main.c)
file(COPY "${MODEL}/g2p_small.gcst" DESTINATION "${example}/main")
file(WRITE "${example}/CMakeLists.txt" [[
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.16)
# The component is two folders up; your own project keeps the component in components/.
set(EXTRA_COMPONENT_DIRS "${CMAKE_CURRENT_LIST_DIR}/../../../goldcrest")
set(COMPONENTS main)
include($ENV{IDF_PATH}/tools/cmake/project.cmake)
project(pronounce)
]])
file(WRITE "${example}/main/CMakeLists.txt" [[
# SPDX-License-Identifier: Apache-2.0
idf_component_register(SRCS main.c pronounce.c model_g2p_small.c INCLUDE_DIRS .
  PRIV_REQUIRES goldcrest esp_partition freertos)
# `idf.py flash` writes the model to its partition.
if(NOT CONFIG_EXAMPLE_MODEL_IN_RODATA AND NOT CONFIG_IDF_TARGET_LINUX)
  esptool_py_flash_to_partition(flash model "${CMAKE_CURRENT_LIST_DIR}/g2p_small.gcst")
endif()
]])
file(WRITE "${example}/main/Kconfig.projbuild" [[
menu "Example"

choice EXAMPLE_MODEL
	prompt "Where the model is stored"
	default EXAMPLE_MODEL_IN_RODATA

config EXAMPLE_MODEL_IN_RODATA
	bool "In the program's .rodata, which is flash that the CPU reads in place"

config EXAMPLE_MODEL_MAPPED
	bool "In the partition \"model\", mapped: programs and models are updated on their own"

config EXAMPLE_MODEL_IN_RAM
	bool "In the partition \"model\", read by pieces to RAM"

endchoice

endmenu
]])
file(WRITE "${example}/partitions.csv" "# name, type, subtype, offset, size
nvs, data, nvs, , 0x6000
phy_init, data, phy, , 0x1000
factory, app, factory, , 1M
model, data, 0x40, , 256K
")
file(WRITE "${example}/sdkconfig.defaults"
  "CONFIG_PARTITION_TABLE_CUSTOM=y\nCONFIG_PARTITION_TABLE_CUSTOM_FILENAME=\"partitions.csv\"\n")
