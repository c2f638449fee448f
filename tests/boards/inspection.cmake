# SPDX-License-Identifier: Apache-2.0
# Alignments and scores on the board, compared with the hash that a host build made (tests/kernels/golden.cmake). Of
# builds with GOLDCREST_INSPECTION, which firmware has only when it asks for it.
if(NOT GOLDCREST_INSPECTION OR NOT GOLDCREST_BOARD_RUN)
  return()
endif()
goldcrest_board_program(inspection_test inspection_test.cc)
goldcrest_add_model(TARGET inspection_test FILE "${GOLDCREST_GOLDEN_FOLDER}/g2p.gcst" NAME inspected SECTION .model
  LIMITS max-source-bytes=64 beam=4 n-best=4 inspection=3 alignment-layers=3)
goldcrest_embed_file(inspection_test inspected_hash "${GOLDCREST_GOLDEN_FOLDER}/g2p.inspection")
goldcrest_embed_file(inspection_test inspected_words "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
goldcrest_board_test(inspection_test inspection)
