# SPDX-License-Identifier: Apache-2.0
# Tokenizers, against SentencePiece's own library.
find_path(GOLDCREST_SENTENCEPIECE_INCLUDE sentencepiece_processor.h REQUIRED)
find_library(GOLDCREST_SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_package(nlohmann_json REQUIRED)

goldcrest_test(text_test
  SOURCES
    text/bpe_test.cc
    text/detokenizer_test.cc
    text/double_array_test.cc
    text/hostile_tables_test.cc
    text/sentencepiece_equality_test.cc
    text/sentencepiece_model_test.cc
    text/test_tokenizer.cc
    text/tokenizer_test.cc
    text/utf8_test.cc
    text/vocabulary_test.cc
  LIBRARIES goldcrest_spec goldcrest_tokenizers nlohmann_json::nlohmann_json "${GOLDCREST_SENTENCEPIECE_LIBRARY}")
target_include_directories(text_test SYSTEM PRIVATE "${GOLDCREST_SENTENCEPIECE_INCLUDE}")

goldcrest_test(text_work_test SOURCES text/text_work_test.cc text/counted_trie.cc text/test_tokenizer.cc
  LIBRARIES goldcrest_tokenizers nlohmann_json::nlohmann_json)
