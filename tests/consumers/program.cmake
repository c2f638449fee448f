# SPDX-License-Identifier: Apache-2.0
# The consumers' program, with CHECKPOINT as its model. On bare metal only memcpy and similar functions are linked.
add_executable(program ../program.c)
set_target_properties(program PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF)
target_compile_options(program PRIVATE -Wall -Wextra -Wpedantic -Werror)
target_link_libraries(program PRIVATE goldcrest::goldcrest)
if(CMAKE_SYSTEM_NAME STREQUAL "Generic")
  target_link_options(program PRIVATE -nostdlib -Wl,--entry=main,--gc-sections)
  # The C library's own objects have other sizes of enumerations than a program with -fno-short-enums.
  target_link_libraries(program PRIVATE -Wl,--no-enum-size-warning -lc -lgcc)
endif()
goldcrest_add_model(TARGET program FILE "${CHECKPOINT}" NAME g2p LIMITS max-source=25 max-target=33 beam=4 encoder-rows=2
  SECTION .rodata.model BUDGET arena=128K,file=2M)
