# SPDX-License-Identifier: Apache-2.0
# Tokenizers: SentencePiece model files and vocabularies -> TokenizerSpec -> the arrays of the tokenizer section.
goldcrest_converter_library(goldcrest_tokenizers
  tokenizers/charsmap.cc
  tokenizers/double_array_builder.cc
  tokenizers/pack_tokenizer.cc
  tokenizers/protobuf_reader.cc
  tokenizers/segmenter.cc
  tokenizers/sentencepiece_model.cc
  tokenizers/subword_codes.cc
  tokenizers/vocabulary.cc)
target_link_libraries(goldcrest_tokenizers PUBLIC goldcrest_sources goldcrest::goldcrest)
