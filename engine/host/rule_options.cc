// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include "host/command_line.h"

namespace goldcrest {
namespace {
Reader one_of(uint8_t& value, std::initializer_list<RuleWord> words) {
  std::vector<std::pair<std::string, uint8_t>> meanings;
  for (const RuleWord& word : words) meanings.emplace_back(word.word, word.value);
  return choice(value, meanings);
}

// 0 says that there is no such limit; the engine's 0 is the model's own.
Reader count(uint32_t& value) {
  return number_to<uint32_t>(0, UINT32_MAX, [&value](uint32_t n) { value = n == 0 ? UINT32_MAX : n; });
}
Reader number_or_none(float& value, float none, float least, float largest) {
  return number_to<float>(none == 0 ? 0 : least, largest, [&value](float x) { value = x == 0 ? HUGE_VALF : x; });
}
}  // namespace

std::vector<Option> rule_options(goldcrest_search& rules, const std::string& names) {
  std::vector<Option> options = {
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_OFFER_##kind(field, __VA_ARGS__)
#define GOLDCREST_OFFER_FLAG(field, usual, option, help, no, ...)                    \
  {"--" option, set(rules.field, uint8_t{GOLDCREST_YES}), help, "", "--no-" option}, \
      {"--no-" option, set(rules.field, uint8_t{GOLDCREST_NO}), no},
#define GOLDCREST_OFFER_WORD(field, type, last, option, help, ...) \
  {"--" option, one_of(rules.field, {__VA_ARGS__}), help},
#define GOLDCREST_OFFER_COUNT(field, option, help, text) {"--" option, count(rules.field), help},
#define GOLDCREST_OFFER_NUMBER(field, none, least, largest, error, option, help, text) \
  {"--" option, number_or_none(rules.field, none, least, largest), help},
#include "goldcrest/search_rules.h"
  };
  const auto is_other = [&](const Option& option) {
    const std::string name = option.names;
    return (" " + names + " ").find(" " + name.substr(0, name.find(' ')) + " ") == std::string::npos;
  };
  if (!names.empty()) options.erase(std::remove_if(options.begin(), options.end(), is_other), options.end());
  return options;
}
}  // namespace goldcrest
