# SPDX-License-Identifier: Apache-2.0
# What firmware has only when it asks for it, on the board: results have the hash that a host build made
# (tests/kernels/golden.cmake).
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_feature_test(name MODEL NAME HASH LIMIT...): the program NAME.cc is given MODEL's file, NAME in C, and HASH's.
function(goldcrest_feature_test name model model_name hash)
  goldcrest_board_program(${name} ${name}.cc)
  goldcrest_add_model(TARGET ${name} FILE "${GOLDCREST_GOLDEN_FOLDER}/${model}" NAME ${model_name} SECTION .model
    LIMITS max-source-bytes=64 beam=4 n-best=4 ${ARGN})
  goldcrest_embed_file(${name} expected_hash "${GOLDCREST_GOLDEN_FOLDER}/${hash}")
  goldcrest_embed_file(${name} hashed_words "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
  goldcrest_board_test(${name} feature)
endfunction()
if(GOLDCREST_INSPECTION)
  goldcrest_feature_test(inspection_test g2p.gcst inspected g2p.inspection inspection=3 alignment-layers=3)
endif()
if(GOLDCREST_RULES)
  goldcrest_feature_test(rules_test g2p_rules.gcst ruled g2p_rules.hash)
endif()
