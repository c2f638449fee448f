# SPDX-License-Identifier: Apache-2.0
# A checkpoint of OPUS-MT's real shape: make_opus_checkpoint DIR [safetensors|bin] [--dtype F32|F16|BF16]
add_executable(make_opus_checkpoint ../support/make_opus_checkpoint.cc)
target_compile_definitions(make_opus_checkpoint PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
target_link_libraries(make_opus_checkpoint PRIVATE goldcrest_checkpoint_writer)
goldcrest_warnings(make_opus_checkpoint)

# A small student of Marian's own kind: make_native_checkpoint DIR
add_executable(make_native_checkpoint ../support/make_native_checkpoint.cc)
target_compile_definitions(make_native_checkpoint PRIVATE "GOLDCREST_SOURCE_DIR=\"${CMAKE_SOURCE_DIR}\"")
target_link_libraries(make_native_checkpoint PRIVATE goldcrest_checkpoint_writer)
goldcrest_warnings(make_native_checkpoint)

goldcrest_test(load_sources_test SOURCES sources_ctranslate2_test.cc sources_marian_binary_test.cc sources_marian_npz_test.cc
  sources_open_test.cc sources_pickle_test.cc sources_safetensors_test.cc sources_saved_settings_test.cc
  sources_state_dict_test.cc sources_torch_zip_test.cc sources_yaml_test.cc sources_zip_test.cc
  LIBRARIES goldcrest_checkpoint_writer)
goldcrest_test(load_sniff_test SOURCES sniff_file_test.cc sniff_folder_test.cc LIBRARIES goldcrest_checkpoint_writer)
goldcrest_test(load_native_test SOURCES dialects_marian_native_graph_test.cc dialects_marian_native_test.cc
  dialects_marian_native_shortlist_test.cc dialects_marian_native_text_test.cc dialects_shortlist_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_pack goldcrest_reference)
goldcrest_test(load_ctranslate2_test SOURCES dialects_ctranslate2_refusals_test.cc dialects_ctranslate2_test.cc
  dialects_ctranslate2_text_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_pack goldcrest_reference)
goldcrest_test(load_toolkit_test SOURCES dialects_toolkit_test.cc dialects_toolkit_refusals_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_evaluate)
goldcrest_test(load_tutorial_test SOURCES dialects_tutorial_test.cc dialects_tutorial_refusals_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_evaluate)
goldcrest_test(load_dialects_test SOURCES dialects_marian_test.cc dialects_marian_refusals_test.cc
  config_template_test.cc dialects_missing_test.cc dialects_nn_transformer_test.cc dialects_nn_transformer_refusals_test.cc
  dialects_nn_transformer_paper_test.cc dialects_positions_test.cc dialects_rules_test.cc tokenizer_fit_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load)
