# SPDX-License-Identifier: Apache-2.0
goldcrest_test(evaluate_test SOURCES evaluate/reference_evaluate_test.cc evaluate/check_test.cc
  evaluate/make_shortlist_test.cc evaluate/metrics_bleu_test.cc evaluate/metrics_chrf_test.cc
  evaluate/metrics_error_rate_test.cc evaluate/metrics_golden_test.cc LIBRARIES goldcrest_evaluate goldcrest_load
  goldcrest_sources)

# The golden results: every 12th line in the fast tests, all lines in the full tests.
goldcrest_test(reference_golden_test SOURCES evaluate/reference_golden_test.cc LIBRARIES goldcrest_evaluate
  goldcrest_load)
add_test(NAME reference_golden_full_test COMMAND reference_golden_test --gtest_filter=ReferenceGolden.DISABLED_*
  --gtest_also_run_disabled_tests)
set_tests_properties(reference_golden_full_test PROPERTIES LABELS full TIMEOUT 600)
