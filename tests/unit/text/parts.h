// SPDX-License-Identifier: Apache-2.0
// A text cut by goldcrest_next_part.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include "goldcrest/sentences.h"

namespace goldcrest::test {
struct Part {
  std::string_view text;
  uint32_t kind;
};

struct PartOptions {
  std::string_view abbreviations = "";
  size_t max_bytes = 0;
};

inline std::vector<Part> parts_of(std::string_view text, const PartOptions& how) {
  const goldcrest_part_options options = {how.abbreviations.data(), how.abbreviations.size(), how.max_bytes};
  std::vector<Part> parts;
  goldcrest_part part = {};
  while (goldcrest_next_part(text.data(), text.size(), &options, &part) > 0) {
    if (part.bytes == 0 || part.bytes > text.size()) throw part.bytes;
    parts.push_back({text.substr(0, part.bytes), part.kind});
    text.remove_prefix(part.bytes);
  }
  if (!text.empty()) throw text.size();
  return parts;
}

// Only the sentences.
inline std::vector<std::string> sentences_of(std::string_view text, const PartOptions& how) {
  std::vector<std::string> sentences;
  for (const Part& part : parts_of(text, how))
    if (part.kind == GOLDCREST_PART_SENTENCE) sentences.emplace_back(part.text);
  return sentences;
}

// Names what is wrong with how a text was cut, or is empty: the parts are the text, each within the limit or one
// character (of `character_bytes`, a function of a text that is not empty), of the kind that its first character says.
inline std::string parts_problem(
    std::string_view text, const PartOptions& how, size_t (*character_bytes)(std::string_view)) {
  std::string joined;
  for (const Part& part : parts_of(text, how)) {
    joined += part.text;
    if (how.max_bytes > 0 && part.text.size() > how.max_bytes && part.text.size() > character_bytes(part.text))
      return "a part is too long";
    const char first = part.text.front(), last = part.text.back();
    const bool is_line_end = first == '\n' || first == '\r';
    if (is_line_end != (part.kind == GOLDCREST_PART_LINE_END) && part.text.size() < 3) return "a line end's kind";
    if (part.kind != GOLDCREST_PART_SENTENCE) continue;
    if (first == ' ' || last == ' ' || part.text.find('\n') != std::string_view::npos)
      return "white space in a sentence";
  }
  return joined == text ? "" : "the parts are not the text";
}
}  // namespace goldcrest::test
