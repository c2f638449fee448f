# SPDX-License-Identifier: Apache-2.0
# ModelSpec -> the bytes of a .gcst file.
goldcrest_converter_library(goldcrest_pack COMPUTES
  file/build.cc
  file/metadata.cc
  file/shortlist_section.cc
  file/tokenizer_section.cc
  file/write.cc
  file/write_file.cc
  quantize/pack.cc
  quantize/quantize.cc)
# The engine's generated header; flatbuffers/ comes from the same folder as in the engine.
target_include_directories(goldcrest_pack SYSTEM PUBLIC "${goldcrest_BINARY_DIR}/engine/generated"
  "${goldcrest_BINARY_DIR}/engine/generated/flatbuffers_include")
target_link_libraries(goldcrest_pack PUBLIC goldcrest_choices goldcrest_spec goldcrest_tokenizers goldcrest::goldcrest)
add_dependencies(goldcrest_pack goldcrest_schema)
