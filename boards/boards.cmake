# SPDX-License-Identifier: Apache-2.0
# The board that -DGOLDCREST_BOARD=NAME selects, as the library `goldcrest_board`: a program links it and gets start-up
# code, memory map and board_api.h. Where an emulator has the board, CMake runs programs there.
set(GOLDCREST_BOARD "" CACHE STRING "Folder under boards/: builds for that board instead of this machine")
if(NOT GOLDCREST_BOARD)
  return()
endif()

set(boards "${CMAKE_CURRENT_LIST_DIR}")
if(NOT EXISTS "${boards}/${GOLDCREST_BOARD}/board.cmake")
  file(GLOB known RELATIVE "${boards}" "${boards}/*/board.cmake")
  list(TRANSFORM known REPLACE "/board.cmake" "")
  list(JOIN known ", " known)
  message(FATAL_ERROR "GOLDCREST_BOARD is ${GOLDCREST_BOARD}; boards/ has ${known}")
endif()

# goldcrest_board_sources(FILE...): makes goldcrest_board of the common start-up, these files and linker.ld.
function(goldcrest_board_sources)
  set(folder "${boards}/${GOLDCREST_BOARD}")
  add_library(goldcrest_board OBJECT "${boards}/common/startup.c" "${boards}/common/fault.c"
    "${boards}/common/console.c" "${boards}/common/systick.c" "${folder}/board.c" ${ARGN})
  target_include_directories(goldcrest_board PUBLIC "${boards}")
  target_compile_options(goldcrest_board PRIVATE -std=gnu11 -ffunction-sections -fdata-sections)
  goldcrest_warnings(goldcrest_board)
  target_link_options(goldcrest_board INTERFACE -nostartfiles -Wl,--gc-sections -Wl,-z,noexecstack "-L${boards}/common" "-T${folder}/linker.ld"
    -Wl,--print-memory-usage)
  set_property(TARGET goldcrest_board PROPERTY INTERFACE_LINK_DEPENDS "${folder}/linker.ld" "${boards}/common/sections.ld")
endfunction()

# goldcrest_mps_board(MACHINE): an Arm MPS2 or MPS3 image that QEMU emulates under this name.
function(goldcrest_mps_board machine)
  goldcrest_board_sources("${boards}/common/cmsdk_uart.c" "${boards}/common/semihosting_exit.c")
  set(GOLDCREST_BOARD_RUN qemu-system-arm -M ${machine} -display none -monitor none -serial stdio
    -semihosting-config enable=on,target=native -kernel PARENT_SCOPE)
endfunction()

include("${boards}/${GOLDCREST_BOARD}/board.cmake")
set(CMAKE_EXECUTABLE_SUFFIX .elf)
# Linked by the C driver, also where the sources are C++: no C++ library is needed or found.
set(CMAKE_CXX_LINK_EXECUTABLE
  "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
if(GOLDCREST_BOARD_RUN)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${GOLDCREST_BOARD_RUN})
endif()
