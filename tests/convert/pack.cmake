# SPDX-License-Identifier: Apache-2.0
goldcrest_test(pack_test SOURCES spec/blocks_test.cc file/build_test.cc file/metadata_test.cc file/pack_test.cc
  file/quantize_test.cc spec/validate_shortlist_test.cc spec/validate_spec_test.cc file/write_test.cc
  file/write_engine_test.cc file/write_file_test.cc LIBRARIES goldcrest_pack)
goldcrest_test(trim_vocabulary_test SOURCES spec/trim_vocabulary_test.cc LIBRARIES goldcrest_test_support)
