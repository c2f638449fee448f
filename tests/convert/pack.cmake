# SPDX-License-Identifier: Apache-2.0
goldcrest_test(pack_test SOURCES blocks_test.cc build_test.cc metadata_test.cc pack_test.cc quantize_test.cc validate_shortlist_test.cc validate_spec_test.cc
  write_test.cc write_engine_test.cc write_file_test.cc LIBRARIES goldcrest_pack)
goldcrest_test(trim_vocabulary_test SOURCES trim_vocabulary_test.cc LIBRARIES goldcrest_test_support)
