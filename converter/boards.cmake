# SPDX-License-Identifier: Apache-2.0
# Puts the boards' linker scripts into the program as text, for --board.
file(GLOB linker_scripts CONFIGURE_DEPENDS "${goldcrest_SOURCE_DIR}/boards/*/linker.ld")
set(board_scripts "")
foreach(script IN LISTS linker_scripts)
  cmake_path(GET script PARENT_PATH folder)
  cmake_path(GET folder FILENAME board)
  file(READ "${script}" text)
  string(APPEND board_scripts "    {\"${board}\", R\"ld(${text})ld\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
endforeach()
configure_file(report/board_scripts.cc.in "${CMAKE_CURRENT_BINARY_DIR}/board_scripts.cc" @ONLY)
goldcrest_converter_library(goldcrest_boards report/board.cc report/linker_script.cc
  "${CMAKE_CURRENT_BINARY_DIR}/board_scripts.cc")
target_link_libraries(goldcrest_boards PUBLIC goldcrest_choices goldcrest_spec goldcrest::goldcrest)
