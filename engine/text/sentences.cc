// SPDX-License-Identifier: Apache-2.0
// One pass over the characters of a part. An end mark is judged at the white space after it, by what follows and by
// the word before; places where a long sentence may be cut are noted on the way.
#include "base/exact_floats.h"
#include "goldcrest/sentences.h"
#include "text/characters.h"

namespace goldcrest { namespace {
constexpr uint32_t kMaxAhead = 64;  // characters of white space, quotes and dashes before a sentence's first letter
constexpr size_t kMaxAbbreviation = 24;  // bytes
constexpr size_t kMaxNumber = 3;         // digits of the number that a part of a list begins with

struct Text {
  const char* bytes;
  size_t n;

  Character at(size_t i) const { return read_character(bytes + i, n - i); }
};

bool is_digit(uint32_t code) { return code >= '0' && code <= '9'; }
bool is_list_space(char byte) { return static_cast<unsigned char>(byte) <= ' '; }

// A word before a full stop, and what stands around it.
struct Word {
  Text text;
  bool is_first;      // first of its part
  bool after_number;  // "1911 г"
  bool before_digit;
};

bool is_number(Text word) {
  for (size_t i = 0; i < word.n; ++i)
    if (!is_digit(static_cast<unsigned char>(word.bytes[i]))) return false;
  return word.n > 0;
}

// The last character is a capital, and no other letter touches it: A, J.-P, U.S.
bool is_initial(Text word) {
  size_t last = word.n - 1;
  while (last > 0 && (word.bytes[last] & 0xC0) == 0x80) --last;
  if (letter_case(word.at(last).code()) != Case::kUpper) return false;
  return last == 0 || word.bytes[last - 1] == '.' || word.bytes[last - 1] == '-';
}

bool equal_bytes(const char* a, const char* b, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// An entry of the list without its signs stands for this word.
bool stands_for(Text entry, Text word) {
  if (entry.n > 0 && entry.bytes[0] == '-') {
    const size_t n = entry.n - 1;
    return word.n >= n && equal_bytes(entry.bytes + 1, word.bytes + word.n - n, n);
  }
  const Character a = entry.at(0), b = word.at(0);
  if (a.n() != b.n() || entry.n != word.n || (a.code() != b.code() && a.code() != small_letter(b.code()))) return false;
  return equal_bytes(entry.bytes + a.n(), word.bytes + b.n(), entry.n - a.n());
}

bool is_listed(const Word& word, const goldcrest_part_options& options) {
  const bool is_short_number = word.text.n <= 2 && is_number(word.text);
  const char* list = options.abbreviations;
  for (size_t i = 0; i < options.abbreviations_bytes;) {
    const size_t begin = i;
    while (i < options.abbreviations_bytes && !is_list_space(list[i])) ++i;
    Text entry = {list + begin, i - begin};
    ++i;
    const bool needs_digit = entry.n > 0 && entry.bytes[entry.n - 1] == '#';
    if (needs_digit) --entry.n;
    if (entry.n == 0) {
      if (needs_digit && is_short_number) return true;
    } else if ((word.before_digit || !needs_digit) && stands_for(entry, word.text)) {
      return true;
    }
  }
  return false;
}

// A full stop after this word does not end a sentence.
bool keeps_going(const Word& word, const goldcrest_part_options& options) {
  if (word.text.n == 0 || word.text.n > kMaxAbbreviation) return false;
  if (is_number(word.text) && word.is_first && word.text.n <= kMaxNumber) return true;
  const bool is_unit = word.after_number && letter_case(word.text.at(0).code()) == Case::kLower;
  if (is_unit && !word.before_digit) return false;
  return is_initial(word.text) || is_listed(word, options);
}

class Scanner {
 public:
  Scanner(Text text, const goldcrest_part_options& options) : text_(text), options_(options) {
    max_bytes_ = options.max_bytes == 0 ? SIZE_MAX : options.max_bytes;
  }

  // Bytes of the sentence that the text begins with, or of its first piece. The text begins with no white space.
  size_t sentence_bytes() {
    for (size_t i = 0; i < text_.n;) {
      const Character c = text_.at(i);
      if (c.is(kLineEnd)) break;
      if (c.is(kSpace) ? ends_at_space(i, c.n()) : ends_without_space(c)) break;
      if (i + c.n() > max_bytes_) return cut(i == 0 ? c.n() : i);
      if (!c.is(kSpace)) take(i, c);
      i += c.n();
    }
    return end_;
  }
 private:
  size_t cut(size_t anywhere) const {
    if (clause_end_ > max_bytes_ / 4) return clause_end_;
    return space_ > 0 ? space_ : anywhere;
  }

  // White space at i: the sentence ends before it.
  bool ends_at_space(size_t i, uint32_t n) {
    const bool goes_on = after_mark_ && closes_after_space(i + n);
    if (after_mark_ && !goes_on && begins_sentence(i)) return true;
    after_mark_ = goes_on;
    if (end_ == i) {
      space_ = i;
      if (last_.is(kClause)) clause_end_ = i;
      after_number_ = is_digit(last_.code());
    }
    word_ = i + n;
    return false;
  }

  // The sentence ends before this character, which is no white space, because its end mark needs none.
  bool ends_without_space(Character c) const {
    if (!after_mark_ || !is_wide_ || c.is(kCloser | kEndMark | kClause)) return false;
    const bool is_hiragana = c.code() >= 0x3041 && c.code() <= 0x3096;  // the rest of a sentence that holds a quote
    return !(has_closer_ && is_hiragana);
  }

  // A character at i that is no white space.
  void take(size_t i, Character c) {
    if (after_mark_ && c.is(kCloser)) {
      has_closer_ = true;
    } else if (c.is(kEndMark)) {
      is_full_stop_ = !after_mark_ && c.code() == '.';
      if (!after_mark_) {
        mark_ = i;
        is_wide_ = has_closer_ = false;
      }
      is_wide_ = is_wide_ || c.is(kWide);
      after_mark_ = true;
    } else {
      after_mark_ = false;
      if (c.is(kClause) && c.is(kWide)) clause_end_ = i + c.n();
      if (first_word_ == i && c.is(kOpener)) first_word_ = i + c.n();
      if (c.is(kJoint) || (word_ == i && c.is(kOpener))) word_ = i + c.n();
    }
    last_ = c;
    end_ = i + c.n();
  }

  // A quote such as French has, which a space parts from the end mark before it and from what follows.
  bool closes_after_space(size_t i) const {
    const Character c = text_.at(i);
    if (c.code() != 0xBB && c.code() != 0x203A) return false;
    const Character next = text_.at(i + c.n());
    return next.n() == 0 || next.is(kSpace | kLineEnd | kEndMark | kClause);
  }

  // After an end mark and white space from i on comes the next sentence.
  bool begins_sentence(size_t i) const {
    Character c = text_.at(i);
    for (uint32_t n = 0; n < kMaxAhead && c.is(kOpener | kSpace); ++n) {
      i += c.n();
      c = text_.at(i);
    }
    if (c.n() == 0 || c.is(kLineEnd)) return true;
    if (letter_case(c.code()) == Case::kLower || c.is(kEndMark | kClause)) return false;
    if (c.is(kCloser) && !c.is(kOpener)) return false;
    if (!is_full_stop_) return true;
    const Text text = {text_.bytes + word_, mark_ > word_ ? mark_ - word_ : 0};
    return !keeps_going({text, word_ == first_word_, after_number_, is_digit(c.code())}, options_);
  }

  Text text_;
  const goldcrest_part_options& options_;
  size_t max_bytes_;
  size_t end_ = 0;         // after the last character that is no white space
  size_t space_ = 0;       // the last white space begins here
  size_t clause_end_ = 0;  // after the last clause mark
  size_t word_ = 0;        // the word begins here
  size_t first_word_ = 0;  // and the part's first one
  size_t mark_ = 0;        // the first end mark of those at end_
  Character last_ = {};    // the character before end_
  bool after_mark_ = false, is_full_stop_ = false, is_wide_ = false, has_closer_ = false, after_number_ = false;
};

// Bytes of the white space or the line end that the text begins with.
size_t blank_bytes(Text text, size_t max_bytes) {
  const Character first = text.at(0);
  size_t n = first.n();
  if (first.is(kLineEnd)) return first.code() == '\r' && text.at(1).code() == '\n' && max_bytes != 1 ? 2 : n;
  for (Character c = text.at(n); c.is(kSpace) && (max_bytes == 0 || n + c.n() <= max_bytes); c = text.at(n)) n += c.n();
  return n;
}
}}  // namespace goldcrest

extern "C" int goldcrest_next_part(
    const char* text, size_t text_bytes, const goldcrest_part_options* options, goldcrest_part* part) {
  using namespace goldcrest;
  const goldcrest_part_options none = {};
  if (options == nullptr) options = &none;
  if (part == nullptr || (text == nullptr && text_bytes != 0)) return GOLDCREST_ERROR_ARGUMENT;
  if (options->abbreviations == nullptr && options->abbreviations_bytes != 0) return GOLDCREST_ERROR_ARGUMENT;
  *part = {0, GOLDCREST_PART_NONE};
  if (text_bytes == 0) return GOLDCREST_PART_NONE;
  const Text rest = {text, text_bytes};
  const Character first = rest.at(0);
  part->kind = first.is(kLineEnd) ? GOLDCREST_PART_LINE_END
               : first.is(kSpace) ? GOLDCREST_PART_SPACE
                                  : GOLDCREST_PART_SENTENCE;
  part->bytes = part->kind == GOLDCREST_PART_SENTENCE ? Scanner(rest, *options).sentence_bytes()
                                                      : blank_bytes(rest, options->max_bytes);
  return static_cast<int>(part->kind);
}
