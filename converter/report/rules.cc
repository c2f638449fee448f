// SPDX-License-Identifier: Apache-2.0
#include "report/rules.h"
#include <algorithm>
#include <cmath>
#include "host/command_line.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases) {
  std::vector<std::string> rules;
  const auto add = [&](bool is_so, std::string rule) {
    if (is_so) rules.push_back(std::move(rule));
  };
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_DESCRIBE_##kind(field, __VA_ARGS__)
#define GOLDCREST_DESCRIBE_FLAG(field, usual, option, help, no, text) \
  add(search.field == (usual ? GOLDCREST_NO : GOLDCREST_YES), text);
#define GOLDCREST_DESCRIBE_WORD(field, type, last, option, help, ...)       \
  for (const RuleWord& word : std::initializer_list<RuleWord>{__VA_ARGS__}) \
    add(search.field == word.value && *word.text, word.text);
#define GOLDCREST_DESCRIBE_COUNT(field, option, help, text) \
  add(search.field != 0 && search.field != UINT32_MAX, format_text(text, search.field));
#define GOLDCREST_DESCRIBE_NUMBER(field, none, least, largest, error, option, help, text) \
  add(search.field != 0 && search.field != none && search.field <= largest, format_text(text, search.field));
#include "goldcrest/search_rules.h"
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
  others.early_stopping = GOLDCREST_STOP_LIKELY;
  others.renormalize = false;
  others.force_end = true;
  if (others != RulesSpec{}) return "";
  std::vector<std::string> options;
  if (rules.early_stopping != GOLDCREST_STOP_LIKELY) options.emplace_back("--early-stopping false");
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
