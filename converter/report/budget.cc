// SPDX-License-Identifier: Apache-2.0
#include "report/budget.h"

#include <charconv>
#include <string_view>

#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// Converts "48K" to bytes.
uint64_t parse_bytes(std::string_view text, const std::string& whole) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  const uint32_t shift = suffix == "K" ? 10 : suffix == "M" ? 20 : 0;
  if (error != std::errc() || (shift == 0 && !suffix.empty()) || number > UINT64_MAX >> shift) {
    throw Error("'{}' in '{}' is not a size; expected a whole number of bytes, or one with K or M", text, whole);
  }
  return number << shift;
}

std::string excess(const char* name, const std::optional<uint64_t>& most, uint64_t bytes) {
  if (!most || bytes <= *most) return "";
  return format_text("the {0} needs {1} bytes, {2} more than --budget {0}={3}\n", name, bytes, bytes - *most, *most);
}

}  // namespace

Budget parse_budget(const std::string& text) {
  Budget budget;
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    std::optional<uint64_t>* bytes = key == "arena"  ? &budget.arena_bytes
                                     : key == "file" ? &budget.file_bytes
                                                     : nullptr;
    if (bytes == nullptr || equals == std::string_view::npos || *bytes || rest.ends_with(',')) {
      throw Error("'{}' is not a budget; expected arena=BYTES, file=BYTES, or both with a comma", text);
    }
    *bytes = parse_bytes(part.substr(equals + 1), text);
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  }
  return budget;
}

std::string over_budget(const Budget& budget, uint64_t arena_bytes, uint64_t file_bytes) {
  return excess("arena", budget.arena_bytes, arena_bytes) + excess("file", budget.file_bytes, file_bytes);
}

}  // namespace goldcrest::converter
