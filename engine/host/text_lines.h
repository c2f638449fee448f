// SPDX-License-Identifier: Apache-2.0
// Lines of text, and the prefixes of results, as ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "goldcrest/tokens.h"
#include "host/session.h"

// Reads lines of untrusted text with bounded memory, and finds what is wrong with them as text or as ids.

constexpr size_t kMaxLineBytes = size_t{1} << 24;  // no engine takes more

// Reads a line without its end, CR LF or LF. Stores only kMaxLineBytes + 1 bytes of a longer line. Returns false at the
// end of the input and if it cannot be read (ferror, errno).
bool read_line(std::FILE* input, std::string* line);

// Returns whether a line has only white space, including Unicode's.
bool is_blank(const std::string& line);

// Removes soft hyphens (U+00AD), which say where a word may be broken. Models were not trained with them.
std::string without_soft_hyphens(std::string text);

// Returns why a line is no text (too long, a NUL byte, not UTF-8), or an empty string.
std::string text_problem(const std::string& line);

// Returns the error of n ids that are more than the limit of `option`.
std::string too_many(size_t n, uint32_t most, const char* option);

// *ids <- a line's decimal ids, separated by spaces, each below vocab_size. Returns an error, or an empty string.
std::string parse_ids(const std::string& line, uint32_t vocab_size, std::vector<int32_t>* ids);

// Makes ids of target texts: of a prefix, of a lexicon's entries. A model file has a tokenizer for sources only, so
// this cuts a text into pieces that the detokenizer writes. The session must outlive it.
class TextCutter {
 public:
  explicit TextCutter(const goldcrest::Session& session);

  // *ids <- the fewest pieces of the target whose text is `text`; of equally few, those with the longest first piece.
  // Bytes that no piece has are byte pieces. If pieces are words: those between spaces. Returns an error, or an empty
  // string.
  std::string cut(const std::string& text, std::vector<int32_t>* ids) const;

 private:
  void add(const goldcrest_token& token);
  std::string cut_words(const std::string& text, std::vector<int32_t>* ids) const;
  static std::string no_pieces(const std::string& text);

  std::unordered_map<std::string_view, int32_t> ids_;
  size_t longest_ = 0;
  std::string problem_;  // of the file
  bool has_pieces_ = false, has_words_ = false, adds_space_ = false;
};
