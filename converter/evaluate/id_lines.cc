// SPDX-License-Identifier: Apache-2.0
#include "evaluate/id_lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "spec/error.h"
#include "spec/printable.h"

namespace goldcrest::converter {

std::vector<int32_t> parse_ids(std::string_view line, uint32_t vocab_size) {
  constexpr size_t kMostShown = 20;
  std::vector<int32_t> ids;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find(' '));
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id >= vocab_size) {
      throw Error("'{}' is no token id; expected numbers below {} with spaces between",
                  printable(word.substr(0, kMostShown)), vocab_size);
    }
    ids.push_back(static_cast<int32_t>(id));
    line.remove_prefix(word.size());
  }
  if (ids.empty()) throw Error("no token id; expected numbers below {} with spaces between", vocab_size);
  return ids;
}

std::string ids_text(std::span<const int32_t> ids) { return fmt::format("{}", fmt::join(ids, " ")); }

}  // namespace goldcrest::converter
