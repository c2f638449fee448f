# SPDX-License-Identifier: Apache-2.0
# Pico SDK: a library for add_subdirectory(), with an example project (packages.cmake).
set(folder "${OUTPUT}/pico-sdk/goldcrest")
set(example "${folder}/examples/pronounce")
goldcrest_copy_engine("${folder}")
goldcrest_write_readme("${folder}" "Pico SDK")
goldcrest_cmake_sources("" "")
file(WRITE "${folder}/CMakeLists.txt" "# SPDX-License-Identifier: ${license}
# The library goldcrest ${VERSION}: add_subdirectory() after pico_sdk_init().
${cmake_options}${cmake_sources}" [[

add_library(goldcrest STATIC ${goldcrest_sources})
target_include_directories(goldcrest PUBLIC "${CMAKE_CURRENT_LIST_DIR}/include"
  PRIVATE "${CMAKE_CURRENT_LIST_DIR}/source")
target_compile_features(goldcrest PRIVATE cxx_std_17)
target_compile_definitions(goldcrest PRIVATE ${goldcrest_definitions})
target_compile_options(goldcrest PRIVATE -O2 -fno-math-errno -fno-exceptions -fno-rtti -fno-threadsafe-statics
  -ffunction-sections -fdata-sections)
]])
goldcrest_copy_example("${example}" pico_sdk.c main.c)
file(WRITE "${example}/CMakeLists.txt" [[
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.13)
set(PICO_BOARD pico2 CACHE STRING "The board")
include($ENV{PICO_SDK_PATH}/pico_sdk_init.cmake)
project(pronounce C CXX ASM)
set(CMAKE_C_STANDARD 11)
pico_sdk_init()
add_subdirectory(../.. goldcrest)
add_executable(pronounce main.c pronounce.c model_g2p_small.c)
# Core 0 helps on the SDK's stack, which is at most 4 KB.
target_compile_definitions(pronounce PRIVATE PICO_STACK_SIZE=0x1000)
target_link_libraries(pronounce goldcrest pico_stdlib pico_multicore)
pico_enable_stdio_uart(pronounce 1)
pico_add_extra_outputs(pronounce)
]])
