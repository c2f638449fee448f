# SPDX-License-Identifier: Apache-2.0
# Makes the library `goldcrest_board` of a board: one of this folder (-DGOLDCREST_BOARD=NAME) or of any other
# (-DGOLDCREST_BOARD_DIR=FOLDER). A program that links it gets start-up code, memory map and board_api.h. If an emulator
# has the board, CMake runs programs there.
set(GOLDCREST_BOARD "" CACHE STRING "Folder under boards/: builds for that board instead of this machine")
set(GOLDCREST_BOARD_DIR "" CACHE PATH "Folder of a board of your own, in place of GOLDCREST_BOARD")
set(goldcrest_boards "${CMAKE_CURRENT_LIST_DIR}")
if(GOLDCREST_BOARD_DIR)
  set(goldcrest_board_folder "${GOLDCREST_BOARD_DIR}")
  get_filename_component(GOLDCREST_BOARD "${GOLDCREST_BOARD_DIR}" NAME)
elseif(GOLDCREST_BOARD)
  set(goldcrest_board_folder "${goldcrest_boards}/${GOLDCREST_BOARD}")
else()
  return()
endif()

foreach(file board.cmake linker.ld)
  if(EXISTS "${goldcrest_board_folder}/${file}")
    continue()
  elseif(GOLDCREST_BOARD_DIR)
    message(FATAL_ERROR "GOLDCREST_BOARD_DIR is ${GOLDCREST_BOARD_DIR}, which has no ${file}; "
      "boards/README.md says what it holds")
  endif()
  file(GLOB known RELATIVE "${goldcrest_boards}" "${goldcrest_boards}/*/board.cmake")
  list(TRANSFORM known REPLACE "/board.cmake" "")
  list(JOIN known ", " known)
  message(FATAL_ERROR "GOLDCREST_BOARD is ${GOLDCREST_BOARD}; boards/ has ${known}; "
    "-DGOLDCREST_BOARD_DIR=FOLDER is for your own")
endforeach()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
  message(FATAL_ERROR "The board ${GOLDCREST_BOARD} needs a compiler for its CPU: configure a new folder with "
    "--toolchain toolchains/arm-none-eabi-cortex-....cmake or riscv-none-elf-....cmake")
endif()

# goldcrest_start_sources(FILE...) makes goldcrest_board from the common start-up, these files and linker.ld.
function(goldcrest_start_sources)
  set(common "${goldcrest_boards}/common")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
    set(start "${common}/riscv/startup.c")
  else()
    set(start "${common}/cortexm/startup.c" "${common}/cortexm/systick.c")
  endif()
  add_library(goldcrest_board OBJECT ${start} "${common}/start_program.c" "${common}/console.c" ${ARGN})
  target_include_directories(goldcrest_board PUBLIC "${goldcrest_boards}")
  target_compile_options(goldcrest_board PRIVATE -std=gnu11 -ffunction-sections -fdata-sections)
  goldcrest_warnings(goldcrest_board)
  target_link_options(goldcrest_board INTERFACE -nostartfiles -Wl,--gc-sections -Wl,-z,noexecstack "-L${common}"
    "-T${goldcrest_board_folder}/linker.ld" -Wl,--print-memory-usage)
  set_property(TARGET goldcrest_board PROPERTY INTERFACE_LINK_DEPENDS "${goldcrest_board_folder}/linker.ld"
    "${common}/sections.ld")
endfunction()

# goldcrest_board_sources(FILE...) is the same with the board's board.c.
function(goldcrest_board_sources)
  if(NOT EXISTS "${goldcrest_board_folder}/board.c")
    message(FATAL_ERROR "${goldcrest_board_folder} has no board.c; boards/README.md says what it holds")
  endif()
  goldcrest_start_sources("${goldcrest_board_folder}/board.c" ${ARGN})
endfunction()

# goldcrest_mps_board(MACHINE CLOCK_HZ UART): an Arm MPS2 or MPS3 image that QEMU emulates under this name. These boards
# differ only in the clock and in the serial port's address, so they share their board.c.
set(goldcrest_console -display none -monitor none -serial stdio)
function(goldcrest_mps_board machine clock_hz uart)
  set(cortexm "${goldcrest_boards}/common/cortexm")
  goldcrest_start_sources("${cortexm}/mps.c" "${cortexm}/semihosting_exit.c")
  target_compile_definitions(goldcrest_board PRIVATE "BOARD_NAME=\"${machine}\"" MPS_CLOCK_HZ=${clock_hz}
    MPS_UART=${uart})
  set(GOLDCREST_BOARD_RUN qemu-system-arm -M ${machine} ${goldcrest_console}
    -semihosting-config enable=on,target=native -kernel PARENT_SCOPE)
endfunction()

include("${goldcrest_board_folder}/board.cmake")
set(CMAKE_EXECUTABLE_SUFFIX .elf)
# The C driver links programs, also those with C++ sources: they need no C++ library, and the driver finds none.
set(CMAKE_CXX_LINK_EXECUTABLE
  "${CMAKE_C_COMPILER} <FLAGS> <CMAKE_CXX_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
if(GOLDCREST_BOARD_RUN)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${GOLDCREST_BOARD_RUN})
endif()
