# SPDX-License-Identifier: Apache-2.0
# Containers: files -> named tensors.
goldcrest_converter_library(goldcrest_sources
  sources/containers/counted_tensors.cc
  sources/containers/ctranslate2_binary.cc
  sources/containers/element_type.cc
  sources/containers/marian_binary.cc
  sources/containers/marian_npz.cc
  sources/containers/numpy_array.cc
  sources/containers/open_tensors.cc
  sources/containers/read_elements.cc
  sources/containers/safetensors.cc
  sources/containers/shape_tensors.cc
  sources/containers/sharded.cc
  sources/containers/state_dict.cc
  sources/containers/torch_zip.cc
  sources/files/inflate.cc
  sources/files/input_file.cc
  sources/files/input_folder.cc
  sources/files/sha256.cc
  sources/files/zip_directory.cc
  sources/messages/nearest.cc
  sources/values/json_text.cc
  sources/values/pickle.cc
  sources/values/pickle_names.cc
  sources/values/saved_settings.cc
  sources/values/yaml_text.cc)
target_link_libraries(goldcrest_sources PUBLIC goldcrest_sniff nlohmann_json::nlohmann_json PRIVATE OpenSSL::Crypto
  goldcrest_plain_yaml-cpp goldcrest_plain_z)

# Dialects: named tensors and settings -> ModelSpec.
goldcrest_converter_library(goldcrest_load
  dialects/config.cc
  dialects/config_template.cc
  dialects/config_way.cc
  dialects/dialect.cc
  dialects/positions.cc
  dialects/provenance.cc
  dialects/required_settings.cc
  dialects/start_row.cc
  dialects/tensor_reader.cc
  dialects/ctranslate2/ctranslate2.cc
  dialects/ctranslate2/ctranslate2_files.cc
  dialects/ctranslate2/ctranslate2_names.cc
  dialects/ctranslate2/ctranslate2_text.cc
  dialects/hugging_face/marian.cc
  dialects/hugging_face/marian_shape.cc
  dialects/hugging_face/marian_text.cc
  dialects/marian/marian_native.cc
  dialects/marian/marian_native_graph.cc
  dialects/marian/marian_native_search.cc
  dialects/marian/marian_native_shortlist.cc
  dialects/marian/marian_native_text.cc
  dialects/nn_transformer/nn_transformer.cc
  dialects/nn_transformer/nn_transformer_attention.cc
  dialects/nn_transformer/nn_transformer_settings.cc
  dialects/nn_transformer/nn_transformer_shape.cc
  dialects/nn_transformer/nn_transformer_text.cc
  dialects/nn_transformer/pad_heads.cc
  dialects/settings/generation.cc
  dialects/settings/generation_keys.cc
  dialects/shortlist/shortlist_binary.cc
  dialects/shortlist/shortlist_file.cc
  dialects/shortlist/shortlist_text.cc
  dialects/text/languages.cc
  dialects/text/subword_files.cc
  dialects/text/subword_text.cc
  dialects/text/tokenizer_fit.cc
  dialects/text/vocabulary_file.cc
  dialects/toolkits/fairseq.cc
  dialects/toolkits/fairseq_dictionary.cc
  dialects/toolkits/opennmt_py.cc
  dialects/toolkits/toolkit.cc
  dialects/tutorials/annotated_transformer.cc
  dialects/tutorials/seq2seq_transformer.cc
  dialects/tutorials/trevett_transformer.cc
  dialects/tutorials/tutorial.cc)
target_link_libraries(goldcrest_load PUBLIC goldcrest_sources goldcrest_spec PRIVATE goldcrest_tokenizers)
