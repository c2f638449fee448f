# SPDX-License-Identifier: Apache-2.0
# Programs for the selected board. If an emulator has the board, ctest runs them.
enable_language(ASM)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
  set(is_riscv ON)
  # The distribution's RISC-V compiler has no C++ headers. The Arm compiler's headers fit: they are for the same version
  # of GCC and a C library of the same origin. Only tests include them.
  file(GLOB cxx_headers /usr/include/newlib/c++/*)
  list(TRANSFORM cxx_headers APPEND /arm-none-eabi OUTPUT_VARIABLE arm_headers)
  list(APPEND cxx_headers ${arm_headers})
else()
  set(is_riscv OFF)
  set(cxx_headers "")
endif()

# Newlib's heap and streams, which tests may use and firmware may not, and the C++ runtime that needs them. The
# distribution's C++ library for bare metal takes 1.5 GB; its headers take 17 MB.
add_library(goldcrest_board_test_support OBJECT newlib_system_calls.c cxx_runtime.cc)
target_compile_options(goldcrest_board_test_support PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti>
  -ffunction-sections -fdata-sections)
target_compile_features(goldcrest_board_test_support PRIVATE cxx_std_20)
target_include_directories(goldcrest_board_test_support PRIVATE "${CMAKE_SOURCE_DIR}/boards")
target_include_directories(goldcrest_board_test_support SYSTEM PUBLIC $<$<COMPILE_LANGUAGE:CXX>:${cxx_headers}>)
goldcrest_warnings(goldcrest_board_test_support)

# goldcrest_cxx_program(name SOURCES...): a program for the board that may include the engine's internals.
function(goldcrest_cxx_program name)
  add_executable(${name} ${ARGN})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/engine" "${CMAKE_SOURCE_DIR}/tests")
  target_link_options(${name} PRIVATE -Wl,--defsym=board_stack_bytes=65536)
  target_link_libraries(${name} PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_board_test_support m)
  goldcrest_warnings(${name})
endfunction()

# goldcrest_board_program(name SOURCES...): one with all kernel tables of the build.
function(goldcrest_board_program name)
  goldcrest_cxx_program(${name} ${ARGN} "${CMAKE_SOURCE_DIR}/engine/kernels/select_static.cc")
  target_compile_definitions(${name} PRIVATE GOLDCREST_ALL_KERNEL_TABLES)
endfunction()

# goldcrest_board_test(name LABEL): a test that runs the program of that name.
function(goldcrest_board_test name label)
  if(GOLDCREST_BOARD_RUN)
    goldcrest_command_test(${name} ${label} ${name})
  endif()
endfunction()

# goldcrest_counted_test(name LABEL [PROPERTIES NAME VALUE...]): runs the program by its instructions' clock.
function(goldcrest_counted_test name label)
  goldcrest_command_test(${name} ${label} ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:${name}> -icount shift=0 ${ARGN})
endfunction()

# goldcrest_symbols_test(name): the program's ELF has no symbol that firmware must not have.
function(goldcrest_symbols_test name)
  goldcrest_command_test(symbols_of_${name} fast sh "${CMAKE_SOURCE_DIR}/tests/boards/firmware_code.sh" symbols
    "${CMAKE_NM}" $<TARGET_FILE:${name}>)
endfunction()

# goldcrest_embed_file(target SYMBOL FILE): FILE's bytes as the array SYMBOL.
function(goldcrest_embed_file target symbol file)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_${symbol}.S")
  configure_file(embedded_file.S.in "${source}" @ONLY)
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${file}")
  target_sources(${target} PRIVATE "${source}")
endfunction()

# goldcrest_console_test(name INPUT EXPECTED): console_test, given INPUT (a format of printf), prints EXPECTED, a
# regular expression that may include the exit status.
function(goldcrest_console_test name input expected)
  if(GOLDCREST_BOARD_RUN)
    add_test(NAME ${name} COMMAND sh -c "input=$1; shift; printf \"$input\" | \"$@\"; echo status $?" sh "${input}"
      ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:console_test>)
    set_tests_properties(${name} PROPERTIES LABELS fast TIMEOUT 60 PASS_REGULAR_EXPRESSION "${expected}")
  endif()
endfunction()
add_executable(console_test console_test.c)
target_compile_options(console_test PRIVATE -std=c11)
target_link_libraries(console_test PRIVATE goldcrest_board)
goldcrest_warnings(console_test)
set(eot "\\004")
string(CONCAT printed "^${GOLDCREST_BOARD}\none\n\\[one\\]\n.*\\[two\\]\n1234567\n\\[too long\\]\n\n\\[\\]\n"
  ".*\\[last\\]\nthe clock ran\nstatus 7")
goldcrest_console_test(console_lines "one\\r\\ntwo!\\177\\n12345678\\n\\nlast${eot}" "${printed}")
goldcrest_console_test(console_fault "trap\\n" "fault: exception 00000003, .*, pc .*status 131")
set(overflow "the stack has overflowed.*status")
if(is_riscv)
  goldcrest_console_test(console_overflow "deep\\n" "fault: exception 00000007, .* ${overflow} 135")
else()
  goldcrest_console_test(console_overflow "deep\\n" "fault: exception 00000003, .* ${overflow} 131")
endif()

goldcrest_board_program(contract_test board_main.cc contract_test.cc ../kernels/contract_attention.cc
  ../kernels/contract_cases.cc ../kernels/contract_options.cc)
goldcrest_board_test(contract_test fast)

include(golden.cmake)
include(features.cmake)

# Firmware as a user links it, and the symbols that its ELF must not have.
add_executable(firmware_test firmware_test.c)
target_compile_options(firmware_test PRIVATE -std=c11)
target_link_libraries(firmware_test PRIVATE goldcrest::goldcrest goldcrest_board)
goldcrest_warnings(firmware_test)
goldcrest_add_model(TARGET firmware_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" NAME firmware SECTION .model
  LIMITS max-source=25 max-source-bytes=64 max-target=33 beam-size=4)
goldcrest_board_test(firmware_test fast)
goldcrest_symbols_test(firmware_test)

include(firmware.cmake)
include(faults.cmake)

# Stack and flash; then counts of instructions if an emulator has the board.
include("${CMAKE_SOURCE_DIR}/tests/size/size.cmake")
include(instructions.cmake)
include(worst_step.cmake)
if(NOT is_riscv)
  include(word_trace.cmake)
endif()

include(student.cmake)
