// SPDX-License-Identifier: Apache-2.0
// In the order of goldcrest_search.
#include "report/rules.h"
#include <algorithm>
#include <cmath>
#include "base/bounds.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases) {
  std::vector<std::string> rules;
  const auto add = [&](bool is_so, std::string rule) {
    if (is_so) rules.push_back(std::move(rule));
  };
  add(search.renormalize == GOLDCREST_YES, "soft-max of what may be chosen");
  add(search.force_end == GOLDCREST_NO, "no forced end");
  add(search.early_stopping == GOLDCREST_STOP_FULL, "early stopping");
  add(search.early_stopping == GOLDCREST_STOP_NEVER, "early stopping never");
  add(search.length_penalty_kind == GOLDCREST_LENGTH_WU, "length penalty of ((5 + n) / 6)");
  add(search.no_repeat_ngram != 0 && search.no_repeat_ngram != UINT32_MAX,
      format_text("no {}-gram twice", search.no_repeat_ngram));
  add(search.max_extra_tokens != 0 && search.max_extra_tokens != UINT32_MAX,
      format_text("at most {} tokens more than the source", search.max_extra_tokens));
  add(search.max_length_factor != 0.0f && search.max_length_factor <= kMaxLengthFactor,
      format_text("at most {} times the source's tokens", search.max_length_factor));
  add(search.repetition_penalty != 0.0f && search.repetition_penalty != 1.0f,
      format_text("repetition penalty {}", search.repetition_penalty));
  add(more_ends != 0, format_text("{} more end ids", more_ends));
  add(biases != 0, format_text("{} biased ids", biases));
  return rules;
}

std::vector<std::string> describe_sequences(const SequencesSpec& sequences) {
  const auto is_suppressed = [](const SequenceSpec& sequence) { return std::isinf(sequence.bias); };
  const auto n_suppressed = static_cast<size_t>(std::ranges::count_if(sequences.list, is_suppressed));
  const size_t n_biased = sequences.list.size() - n_suppressed;
  std::vector<std::string> texts;
  if (n_suppressed != 0) texts.push_back(format_text("{} suppressed", n_suppressed));
  if (n_biased != 0) texts.push_back(format_text("{} biased", n_biased));
  if (sequences.no_repeat_source_ngram != 0)
    texts.push_back(format_text("no {}-gram of the source", sequences.no_repeat_source_ngram));
  return texts;
}

std::string options_without_rules(const RulesSpec& rules) {
  RulesSpec others = rules;
  others.early_stopping = EarlyStopping::kLikely;
  others.renormalize = false;
  others.force_end = true;
  if (others != RulesSpec{}) return "";
  std::vector<std::string> options;
  if (rules.early_stopping != EarlyStopping::kLikely) options.emplace_back("--early-stopping false");
  if (rules.renormalize) options.emplace_back("--no-renormalize");
  if (!rules.force_end) options.emplace_back("--force-end");
  return join_text(options, " ");
}

std::string firmware_warning(const std::vector<std::string>& engine_options, const RulesSpec& rules) {
  std::string text = "the file needs what firmware leaves out by default: build it with";
  for (const std::string& option : engine_options) text += " -D " + option + "=ON";
  const std::string options = options_without_rules(rules);
  return text + (options.empty() ? "" : "; a file without rules of the search: " + options);
}
}  // namespace goldcrest::converter
