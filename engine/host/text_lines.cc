// SPDX-License-Identifier: Apache-2.0
#include "host/text_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/id_list.h"
#include "host/messages.h"
#include "host/printable.h"

namespace {

// Unicode's White_Space in UTF-8.
constexpr std::string_view kSpaces[] = {" ",        "\t",     "\v",     "\f",     "\r",     "\n",     "\xc2\x85",
                                        "\xc2\xa0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                        "\u2005",   "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                        "\u2029",   "\u202f", "\u205f", "\u3000"};

std::string too_long() { return "too long: more than " + std::to_string(kMaxLineBytes) + " bytes"; }

}  // namespace

bool read_line(std::FILE* input, std::string* line) {
  line->clear();
  int c = std::getc(input);
  if (c == EOF) return false;
  for (; c != EOF && c != '\n'; c = std::getc(input)) {
    if (line->size() <= kMaxLineBytes) line->push_back(static_cast<char>(c));
  }
  if (std::ferror(input) != 0) return false;
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

bool is_blank(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    size_t n = 0;
    for (const std::string_view space : kSpaces) {
      if (rest.substr(0, space.size()) == space) n = space.size();
    }
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

namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";  // U+2581, which stands for a space in pieces

}  // namespace

TextCutter::TextCutter(const goldcrest::Session& session) {
  const uint8_t kind = session.traits().target;
  has_pieces_ = kind == GOLDCREST_CUT_UNIGRAM || kind == GOLDCREST_CUT_BPE;
  has_words_ = kind == GOLDCREST_CUT_WORDS;
  adds_space_ = session.traits().target_adds_space != 0;
  const auto visit = [](void* cutter, const goldcrest_token* token) { static_cast<TextCutter*>(cutter)->add(*token); };
  goldcrest_detail detail = {"", -1};
  const int n = goldcrest_target_tokens(session.model(), session.model_bytes(), visit, this, &detail);
  if (n < 0) problem_ = describe_error(n, detail);
}

void TextCutter::add(const goldcrest_token& token) {
  const bool is_byte = token.kind == GOLDCREST_TOKEN_BYTE;
  const bool is_text = token.kind == GOLDCREST_TOKEN_NORMAL || token.kind == GOLDCREST_TOKEN_USER_DEFINED || is_byte;
  if (!is_text || token.text_bytes == 0) return;
  // A byte's piece and a normal one can have the same text; the normal one is meant.
  const auto [found, is_new] = ids_.emplace(std::string_view(token.text, token.text_bytes), token.id);
  if (!is_new && !is_byte) found->second = token.id;
  longest_ = std::max(longest_, token.text_bytes);
}

std::string TextCutter::cut(const std::string& text, std::vector<int32_t>* ids) const {
  if (!problem_.empty()) return problem_;
  if (has_words_) return cut_words(text, ids);
  if (!has_pieces_) return "the model's results are not made of SentencePiece's pieces or of words; give it as ids";
  std::string spaced = adds_space_ ? std::string(kSpace) : "";
  for (const char c : text) spaced += c == ' ' ? std::string(kSpace) : std::string(1, c);
  const size_t n = spaced.size(), none = n + 1;
  std::vector<size_t> fewest(n + 1, none), next(n + 1, 0);  // pieces from a byte on; the end of the first of them
  fewest[n] = 0;
  for (size_t begin = n; begin-- > 0;) {
    for (size_t end = std::min(n, begin + longest_); end > begin; --end) {
      if (fewest[end] + 1 >= fewest[begin]) continue;
      if (ids_.count(std::string_view(spaced).substr(begin, end - begin)) == 0) continue;
      fewest[begin] = fewest[end] + 1;
      next[begin] = end;
    }
  }
  if (fewest[0] == none) return no_pieces(text);
  for (size_t begin = 0; begin < n; begin = next[begin])
    ids->push_back(ids_.at(std::string_view(spaced).substr(begin, next[begin] - begin)));
  return "";
}

std::string TextCutter::cut_words(const std::string& text, std::vector<int32_t>* ids) const {
  for (size_t begin = 0, end = 0; (begin = text.find_first_not_of(' ', end)) != std::string::npos;) {
    end = std::min(text.find(' ', begin), text.size());
    const auto found = ids_.find(std::string_view(text).substr(begin, end - begin));
    if (found == ids_.end()) return no_pieces(text);
    ids->push_back(found->second);
  }
  return "";
}

std::string TextCutter::no_pieces(const std::string& text) {
  return "the model's vocabulary has no pieces for \"" + goldcrest::printable(text) + "\"";
}
