# SPDX-License-Identifier: Apache-2.0
goldcrest_test(api_test SOURCES api/alignment_test.cc api/idle_weights_test.cc api/inspection_test.cc api/languages_test.cc api/limits_test.cc api/plan_test.cc api/same_bits_test.cc api/self_test_test.cc api/shortlist_test.cc api/state_test.cc
  api/text_test.cc api/threads_test.cc LIBRARIES goldcrest_test_support goldcrest_thread_pool)
