# SPDX-License-Identifier: Apache-2.0
# Compares tokenizers with SentencePiece's own library.
find_path(GOLDCREST_SENTENCEPIECE_INCLUDE sentencepiece_processor.h REQUIRED)
find_library(GOLDCREST_SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)

goldcrest_test(text_test
  SOURCES
    text/bpe_test.cc
    text/detokenizer_test.cc
    text/double_array_test.cc
    text/hostile_tables_test.cc
    text/sentencepiece_equality_test.cc
    text/sentencepiece_model_test.cc
    text/subword_codes_test.cc
    text/subword_test.cc
    text/tokenizer_test.cc
    text/utf8_test.cc
    text/vocabulary_test.cc
  LIBRARIES goldcrest_test_tokenizer "${GOLDCREST_SENTENCEPIECE_LIBRARY}")
target_include_directories(text_test SYSTEM PRIVATE "${GOLDCREST_SENTENCEPIECE_INCLUDE}")

goldcrest_test(text_work_test SOURCES text/text_work_test.cc text/counted_trie.cc
  LIBRARIES goldcrest_test_tokenizer)

# tests/peers/subword.py runs it.
add_executable(subword_ids "${CMAKE_SOURCE_DIR}/tests/peers/subword_ids.cc")
target_compile_features(subword_ids PRIVATE cxx_std_20)
target_include_directories(subword_ids PRIVATE "${CMAKE_SOURCE_DIR}/engine" "${CMAKE_SOURCE_DIR}/tests")
target_compile_definitions(subword_ids PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
target_link_libraries(subword_ids PRIVATE goldcrest_test_tokenizer)
goldcrest_warnings(subword_ids)

# Sentences; the abbreviations are goldcrest-translate's.
goldcrest_test(sentences_test
  SOURCES text/characters_test.cc text/marked_sentences_test.cc text/sentences_test.cc text/counted_characters.cc
    "${CMAKE_SOURCE_DIR}/examples/support/abbreviations.cc")
