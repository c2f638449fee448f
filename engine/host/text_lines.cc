// SPDX-License-Identifier: Apache-2.0
#include "host/text_lines.h"
#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include "host/printable.h"

namespace {
// Unicode's White_Space in UTF-8.
constexpr std::string_view kSpaces[] = {" ", "\t", "\v", "\f", "\r", "\n", "\xc2\x85", "\xc2\xa0", "\u1680", "\u2000",
    "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
    "\u2029", "\u202f", "\u205f", "\u3000"};

std::string too_long() { return "too long: more than " + std::to_string(kMaxLineBytes) + " bytes"; }
}  // namespace

bool read_line(std::FILE* input, std::string* line) {
  line->clear();
  int c = std::getc(input);
  if (c == EOF) return false;
  for (; c != EOF && c != '\n'; c = std::getc(input))
    if (line->size() <= kMaxLineBytes) line->push_back(static_cast<char>(c));
  if (std::ferror(input) != 0) return false;
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

bool is_blank(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    size_t n = 0;
    for (const std::string_view space : kSpaces)
      if (rest.substr(0, space.size()) == space) n = space.size();
    if (n == 0) return false;
    rest.remove_prefix(n);
  }
  return true;
}

std::string without_soft_hyphens(std::string text) {
  constexpr std::string_view kSoftHyphen = "\xc2\xad";
  for (size_t at = 0; (at = text.find(kSoftHyphen, at)) != text.npos;) text.erase(at, kSoftHyphen.size());
  return text;
}

std::string text_problem(const std::string& line) {
  if (line.size() > kMaxLineBytes) return too_long();
  const size_t valid = goldcrest::valid_utf8_prefix(line);
  if (valid != line.size()) return "not UTF-8 at byte " + std::to_string(valid + 1);
  const size_t nul = line.find('\0');
  return nul == std::string::npos ? "" : "a NUL byte at byte " + std::to_string(nul + 1);
}

std::string parse_ids(const std::string& line, uint32_t vocab_size, std::vector<int32_t>* ids) {
  using namespace goldcrest;
  constexpr size_t kMaxShown = 40;
  if (line.size() > kMaxLineBytes) return too_long();
  ParsedIds list = read_id_list(line, vocab_size);
  *ids = std::move(list.ids);
  if (list.bad.empty()) return "";
  if (!list.is_number) return "not a token id: " + printable(list.bad.substr(0, kMaxShown));
  return "id " + std::to_string(std::stoul(std::string(list.bad))) + " is outside the vocabulary of " +
         std::to_string(vocab_size);
}

std::string too_many(size_t n, uint32_t most, const char* option) {
  return "too long: " + std::to_string(n) + " ids, where " + std::to_string(most) + " are possible (" + option + ")";
}

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

std::string ids_text(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

std::string missing_end(const std::vector<int32_t>& source, const std::vector<int32_t>& end) {
  if (source.size() >= end.size() && std::equal(end.rbegin(), end.rend(), source.rbegin())) return "";
  return "the ids do not end with " + ids_text(end) + ", the end of the model's sources; such a result is rarely right";
}

std::string_view leading_language_code(std::string_view text) {
  const size_t end = text.substr(0, 2) == ">>" ? text.find("<<", 2) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 2);
}
}  // namespace goldcrest
