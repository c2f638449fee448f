// SPDX-License-Identifier: Apache-2.0
#include "host/id_list.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace goldcrest {

ParsedIds read_id_list(std::string_view line, uint32_t vocab_size) {
  constexpr std::string_view kSpace = " \t\v\f\r";
  ParsedIds list;
  for (size_t end = 0, begin; (begin = line.find_first_not_of(kSpace, end)) != std::string_view::npos;) {
    end = std::min(line.find_first_of(kSpace, begin), line.size());
    const char *const first = line.data() + begin, *const last = line.data() + end;
    int32_t id = 0;
    const auto [stop, problem] = std::from_chars(first, last, id);
    list.is_number = problem == std::errc() && stop == last && *first != '-';
    if (!list.is_number || static_cast<uint32_t>(id) >= vocab_size) {
      list.bad = line.substr(begin, end - begin);
      return list;
    }
    list.ids.push_back(id);
  }
  return list;
}

std::string missing_end(const std::vector<int32_t>& source, const std::vector<int32_t>& end) {
  if (source.size() >= end.size() && std::equal(end.rbegin(), end.rend(), source.rbegin())) return "";
  std::string ids;
  for (const int32_t id : end) ids += " " + std::to_string(id);
  return "the ids do not end with" + ids + ", the end of the model's sources; such a result is rarely right";
}

std::string_view leading_language_code(std::string_view text) {
  const size_t end = text.substr(0, 2) == ">>" ? text.find("<<", 2) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 2);
}

}  // namespace goldcrest
