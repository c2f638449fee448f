# SPDX-License-Identifier: Apache-2.0
# The board computes the hash that a host build made (tests/kernels/golden.cmake): with every kernel table, and with an
# engine that pre-empts another one. Boards without an emulator build without that hash.
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_golden_run(name WORDS DATA MODEL HASH): gives a program golden_run.h over the first WORDS validation words
# of DATA, with the host's model and hash. The two are files, in GOLDCREST_GOLDEN_FOLDER if their path has no folder.
function(goldcrest_golden_run name words data model hash)
  get_filename_component(model "${model}" ABSOLUTE BASE_DIR "${GOLDCREST_GOLDEN_FOLDER}")
  get_filename_component(hash "${hash}" ABSOLUTE BASE_DIR "${GOLDCREST_GOLDEN_FOLDER}")
  target_sources(${name} PRIVATE golden_run.cc)
  target_compile_definitions(${name} PRIVATE GOLDCREST_GOLDEN_WORDS=${words})
  goldcrest_add_model(TARGET ${name} FILE "${model}" NAME golden SECTION .model
    LIMITS max-source-bytes=64 beam-size=1)
  goldcrest_embed_file(${name} golden_hash "${hash}")
  goldcrest_embed_file(${name} golden_words "${CMAKE_SOURCE_DIR}/tests/data/${data}/valid.tsv")
endfunction()
# goldcrest_golden_program(name TABLES WORDS DATA MODEL HASH): the same in a program of the first TABLES kernel tables.
function(goldcrest_golden_program name tables)
  goldcrest_board_program(${name} golden_test.cc board_main.cc)
  target_compile_definitions(${name} PRIVATE GOLDCREST_GOLDEN_TABLES=${tables})
  goldcrest_golden_run(${name} ${ARGN})
endfunction()
goldcrest_golden_program(golden_test 100 50 g2p g2p.gcst g2p.hash)
goldcrest_board_test(golden_test fast)
# golden_test prints through newlib, so this check must find the symbols that firmware must not have.
goldcrest_symbols_test(golden_test)
set_tests_properties(symbols_of_golden_test PROPERTIES PASS_REGULAR_EXPRESSION " has .*printf")

# All words, with the best table. A test builds it, because the fast tests do not make the hash of all words.
goldcrest_golden_program(golden_all_test 1 1000000 g2p g2p.gcst g2p_all.hash)
set_target_properties(golden_all_test PROPERTIES EXCLUDE_FROM_ALL TRUE)
goldcrest_board_test(golden_all_test full)
goldcrest_command_test(build_golden_all_test full ${CMAKE_COMMAND} --build "${CMAKE_BINARY_DIR}"
  --target golden_all_test PROPERTIES FIXTURES_SETUP golden_all_test)
set_tests_properties(golden_all_test PROPERTIES FIXTURES_REQUIRED golden_all_test)

# Instructions are its clock (-icount), so interrupts come at the same places in every run.
goldcrest_cxx_program(preemption_test preemption_test.cc)
target_link_options(preemption_test PRIVATE -Wl,--wrap=SysTick_Handler)
goldcrest_golden_run(preemption_test 50 g2p g2p.gcst g2p.hash)
goldcrest_counted_test(preemption_test fast)
