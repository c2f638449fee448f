# SPDX-License-Identifier: Apache-2.0
# Containers: files -> named tensors.
goldcrest_converter_library(goldcrest_sources
  sources/counted_tensors.cc
  sources/ctranslate2_binary.cc
  sources/element_type.cc
  sources/read_elements.cc
  sources/inflate.cc
  sources/input_file.cc
  sources/input_folder.cc
  sources/json_text.cc
  sources/marian_binary.cc
  sources/marian_npz.cc
  sources/nearest.cc
  sources/numpy_array.cc
  sources/open_tensors.cc
  sources/pickle.cc
  sources/pickle_names.cc
  sources/safetensors.cc
  sources/saved_settings.cc
  sources/sha256.cc
  sources/shape_tensors.cc
  sources/sharded.cc
  sources/state_dict.cc
  sources/torch_zip.cc
  sources/yaml_text.cc
  sources/zip_directory.cc)
target_link_libraries(goldcrest_sources PUBLIC goldcrest_sniff nlohmann_json::nlohmann_json PRIVATE OpenSSL::Crypto
  goldcrest_plain_yaml-cpp goldcrest_plain_z)

# Dialects: named tensors and settings -> ModelSpec.
goldcrest_converter_library(goldcrest_load
  dialects/annotated_transformer.cc
  dialects/config.cc
  dialects/config_template.cc
  dialects/ctranslate2.cc
  dialects/ctranslate2_files.cc
  dialects/ctranslate2_names.cc
  dialects/ctranslate2_text.cc
  dialects/dialect.cc
  dialects/fairseq.cc
  dialects/fairseq_dictionary.cc
  dialects/generation.cc
  dialects/generation_keys.cc
  dialects/languages.cc
  dialects/marian.cc
  dialects/marian_native.cc
  dialects/marian_native_graph.cc
  dialects/marian_native_search.cc
  dialects/marian_native_shortlist.cc
  dialects/marian_native_text.cc
  dialects/marian_shape.cc
  dialects/marian_text.cc
  dialects/nn_transformer.cc
  dialects/nn_transformer_attention.cc
  dialects/nn_transformer_settings.cc
  dialects/nn_transformer_shape.cc
  dialects/nn_transformer_text.cc
  dialects/opennmt_py.cc
  dialects/pad_heads.cc
  dialects/positions.cc
  dialects/provenance.cc
  dialects/required_settings.cc
  dialects/seq2seq_transformer.cc
  dialects/shortlist_binary.cc
  dialects/shortlist_file.cc
  dialects/shortlist_text.cc
  dialects/start_row.cc
  dialects/subword_files.cc
  dialects/subword_text.cc
  dialects/tensor_reader.cc
  dialects/tokenizer_fit.cc
  dialects/toolkit.cc
  dialects/trevett_transformer.cc
  dialects/tutorial.cc
  dialects/vocabulary_file.cc)
target_link_libraries(goldcrest_load PUBLIC goldcrest_sources goldcrest_spec PRIVATE goldcrest_tokenizers)
