# SPDX-License-Identifier: Apache-2.0
# Makes a checkpoint of OPUS-MT's real shape: make_opus_checkpoint DIR [safetensors|bin] [--dtype F32|F16|BF16]
add_executable(make_opus_checkpoint ../support/make_opus_checkpoint.cc)
target_compile_definitions(make_opus_checkpoint PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
target_link_libraries(make_opus_checkpoint PRIVATE goldcrest_checkpoint_writer)
goldcrest_warnings(make_opus_checkpoint)

# Makes a small student of Marian's own kind: make_native_checkpoint DIR
add_executable(make_native_checkpoint ../support/make_native_checkpoint.cc)
target_compile_definitions(make_native_checkpoint PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
target_link_libraries(make_native_checkpoint PRIVATE goldcrest_checkpoint_writer)
goldcrest_warnings(make_native_checkpoint)

goldcrest_test(load_sources_test SOURCES sources/ctranslate2_binary_test.cc sources/marian_binary_test.cc
  sources/marian_npz_test.cc sources/open_test.cc sources/pickle_test.cc sources/safetensors_test.cc
  sources/saved_settings_test.cc sources/state_dict_test.cc sources/torch_views_test.cc sources/torch_zip_test.cc
  sources/value_test.cc sources/yaml_test.cc sources/zip_test.cc LIBRARIES goldcrest_checkpoint_writer)
goldcrest_test(load_sniff_test SOURCES sources/sniff_file_test.cc sources/sniff_folder_test.cc LIBRARIES
  goldcrest_checkpoint_writer)
goldcrest_test(load_native_test SOURCES dialects/marian_native_graph_test.cc dialects/marian_native_test.cc
  dialects/marian_native_shortlist_test.cc dialects/marian_native_text_test.cc dialects/shortlist_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_pack goldcrest_reference)
goldcrest_test(load_ctranslate2_test SOURCES dialects/ctranslate2_refusals_test.cc dialects/ctranslate2_test.cc
  dialects/ctranslate2_text_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_pack goldcrest_reference)
goldcrest_test(load_families_test SOURCES dialects/families_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_evaluate)
goldcrest_test(load_toolkit_test SOURCES dialects/toolkit_test.cc dialects/toolkit_refusals_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_evaluate)
goldcrest_test(load_tutorial_test SOURCES dialects/tutorial_test.cc dialects/tutorial_refusals_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_evaluate)
goldcrest_test(load_dialects_test SOURCES dialects/marian_test.cc dialects/marian_refusals_test.cc
  dialects/config_template_test.cc dialects/missing_test.cc dialects/nn_transformer_test.cc
  dialects/nn_transformer_refusals_test.cc dialects/nn_transformer_paper_test.cc dialects/positions_test.cc
  dialects/rules_test.cc dialects/tokenizer_fit_test.cc LIBRARIES goldcrest_checkpoint_writer goldcrest_load)
