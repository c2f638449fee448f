// SPDX-License-Identifier: Apache-2.0
// ld's manual, "MEMORY Command" and "Aliases for Memory Regions", as far as boards need them.
#include "report/linker_script.h"

#include <algorithm>
#include <charconv>

#include "host/printable.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 16, kMaxRegions = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '$';
}

// Splits into words and single characters; drops comments, white space, and the quotes of texts.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  // Returns "" at the end.
  std::string_view next() {
    skip();
    if (text_.empty()) return {};
    if (text_.front() == '"') {
      const size_t end = text_.find('"', 1);
      if (end == text_.npos) throw Error("{}: a text has no end", where_);
      const std::string_view token = text_.substr(1, end - 1);
      text_.remove_prefix(end + 1);
      return token;
    }
    const auto* const end = std::find_if_not(text_.begin(), text_.end(), is_word);
    const std::string_view token = text_.substr(0, std::max<size_t>(1, static_cast<size_t>(end - text_.begin())));
    text_.remove_prefix(token.size());
    return token;
  }

  void expect(std::string_view token) {
    const std::string_view found = next();
    if (found != token) throw Error("{}: found '{}', expected '{}'", where_, printable(found), token);
  }

  // Skips everything up to and including `token`.
  void skip_past(std::string_view token) {
    for (std::string_view found = next(); found != token; found = next()) {
      if (found.empty()) throw Error("{}: ends where '{}' was expected", where_, token);
    }
  }

 private:
  void skip() {
    while (!text_.empty()) {
      if (text_.starts_with("/*")) {
        const size_t end = text_.find("*/", 2);
        if (end == text_.npos) throw Error("{}: a comment has no end", where_);
        text_.remove_prefix(end + 2);
      } else if (text_.front() == ' ' || text_.front() == '\t' || text_.front() == '\n' || text_.front() == '\r') {
        text_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  const std::string& where_;
};

uint64_t parse_length(std::string_view token, const std::string& name, const std::string& where) {
  std::string_view digits = token;
  const int base = digits.starts_with("0x") || digits.starts_with("0X") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  const std::string_view suffix = digits.substr(static_cast<size_t>(end - digits.data()));
  const uint32_t shift = suffix == "K" || suffix == "k" ? 10 : suffix == "M" || suffix == "m" ? 20 : 0;
  if (error != std::errc() || (shift == 0 && !suffix.empty()) || number > UINT64_MAX >> 1 >> shift) {
    throw Error("{}: LENGTH of {} is '{}', expected a number of bytes, or one with K or M", where, printable(name),
                printable(token));
  }
  return number << shift;
}

void parse_memory(Tokens& tokens, const std::string& where, LinkerScript& script) {
  tokens.expect("{");
  for (std::string_view name = tokens.next(); name != "}"; name = tokens.next()) {
    if (name.empty()) throw Error("{}: MEMORY has no end", where);
    if (script.regions.size() == kMaxRegions) throw Error("{}: has more than {} memories", where, kMaxRegions);
    Region region{std::string(name), 0};
    std::string_view token = tokens.next();
    if (token == "(") {
      tokens.skip_past(")");
      token = tokens.next();
    }
    if (token != ":") throw Error("{}: found '{}' after {}, expected ':'", where, printable(token), printable(name));
    tokens.skip_past(",");  // ORIGIN
    const std::string_view length = tokens.next();
    if (length != "LENGTH" && length != "len" && length != "l")
      throw Error("{}: {} has no LENGTH", where, printable(name));
    tokens.expect("=");
    region.bytes = parse_length(tokens.next(), region.name, where);
    script.regions.push_back(std::move(region));
  }
}

}  // namespace

const Region& LinkerScript::region(const std::string& name, const std::string& where) const {
  const auto alias = aliases.find(name);
  const std::string& own = alias == aliases.end() ? name : alias->second;
  const auto found = std::ranges::find(regions, own, &Region::name);
  if (found == regions.end()) {
    throw Error("{0}: has no memory {1}; expected REGION_ALIAS(\"{1}\", ...), as boards/README.md says", where, name);
  }
  return *found;
}

LinkerScript parse_linker_script(std::string_view text, const std::string& where) {
  if (text.size() > kMaxBytes) throw Error("{}: is larger than {} bytes; no linker script", where, kMaxBytes);
  LinkerScript script;
  Tokens tokens(text, where);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "MEMORY") parse_memory(tokens, where, script);
    if (token != "REGION_ALIAS") continue;
    tokens.expect("(");
    const std::string alias(tokens.next());
    tokens.expect(",");
    script.aliases[alias] = tokens.next();
    tokens.expect(")");
  }
  if (script.regions.empty()) throw Error("{}: has no MEMORY; expected a linker script", where);
  return script;
}

}  // namespace goldcrest::converter
