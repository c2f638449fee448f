// SPDX-License-Identifier: Apache-2.0
#include "dialects/table_names.h"

#include <cctype>

namespace goldcrest::converter {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string without_encoding(const std::string& name) {
  std::string text = lower_case(name);
  for (const std::string word : {"encoding", "pos_enc", "posenc"})
    if (const size_t at = text.find(word); at != std::string::npos) text.erase(at, word.size());
  return text;
}

}  // namespace

bool has_any(const std::string& name, const std::vector<const char*>& parts) {
  const std::string lower = lower_case(name);
  return std::any_of(parts.begin(), parts.end(), [&](const char* p) { return lower.find(p) != std::string::npos; });
}

bool is_of_source(const std::string& name) { return has_any(name, {"src", "source", "enc", "input"}); }
bool is_of_target(const std::string& name) { return has_any(name, {"tgt", "trg", "target", "dec"}); }
bool has_source_positions(const std::string& name) { return is_of_source(without_encoding(name)); }
bool has_target_positions(const std::string& name) { return is_of_target(without_encoding(name)); }

std::string without_weight(const std::string& name) {
  const std::string end = ".weight";
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

}  // namespace goldcrest::converter
