# SPDX-License-Identifier: Apache-2.0
# Features that firmware has only if it asks for them, on the board: results have the hash that a host build made
# (tests/kernels/golden.cmake).
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_feature_test(name MODEL NAME HASH LIMIT...): builds NAME.cc with the file MODEL, called NAME in C, and HASH.
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
