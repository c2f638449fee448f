# SPDX-License-Identifier: Apache-2.0
goldcrest_test(decoding_test SOURCES decoding/beam_test.cc decoding/forced_token_test.cc decoding/rules_test.cc decoding/shortlist_test.cc
  decoding/search_rules_test.cc decoding/stages_test.cc decoding/top_tokens_test.cc decoding/naive_search.cc LIBRARIES goldcrest_test_support)
