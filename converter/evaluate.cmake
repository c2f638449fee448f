# SPDX-License-Identifier: Apache-2.0
# The metrics, --evaluate and --check.
goldcrest_converter_library(goldcrest_evaluate COMPUTES
  evaluate/agreement.cc
  evaluate/check.cc
  evaluate/check_samples.cc
  evaluate/deviation.cc
  evaluate/evaluate.cc
  evaluate/id_lines.cc
  evaluate/line_encoder.cc
  evaluate/make_shortlist.cc
  evaluate/metrics_bleu.cc
  evaluate/metrics_chrf.cc
  evaluate/metrics_error_rate.cc
  evaluate/metrics_text.cc)
target_link_libraries(goldcrest_evaluate PUBLIC goldcrest_reference goldcrest_tokenizers)
