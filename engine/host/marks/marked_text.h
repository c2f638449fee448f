// SPDX-License-Identifier: Apache-2.0
// A text whose marks are taken out before it is translated: tags, and what is kept as it is. The marks get their
// places in the translation by the decoder's attention, word by word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include "host/marks/keep_patterns.h"
#include "host/sentence_search.h"

namespace goldcrest::host {
struct Mark {
  // An element begins, ends; something stands at a place; something stands for a part of the text.
  enum Kind : uint8_t { kOpen, kClose, kPoint, kKept };
  Kind kind;
  size_t at;         // a byte of the text
  std::string text;  // as it is printed
  size_t bytes = 0;  // length of the text for which it stands
};

// The marks are in the order of the text, and its elements do not cross. An element may begin or end outside of it.
struct MarkedText {
  std::string before = {};  // printed before the text as it is
  std::string text = {};
  std::vector<Mark> marks = {};
  bool is_html = false;  // &, < and > are printed as entities
  size_t line = 0;       // line of the document in which it ends

  // Returns whether a mark is in a part of the text, or at its edges.
  bool has_marks(size_t begin, size_t bytes) const;
  // Returns whether a part of the text has only letters of kept texts, so that there is nothing to translate.
  bool is_kept(size_t begin, size_t bytes) const;
 private:
  std::vector<Mark>::const_iterator first_mark(size_t begin) const;
};

// Puts a name that models copy in place of each match and of each kept mark. A match that has a mark in it stays.
// Letters that a placeholder touches are kept with it.
void put_stand_ins(const KeepPatterns& patterns, MarkedText* text);

// The words of a text: runs of letters and digits; each other character but white space, and each of a script that has
// no spaces, is a word of its own.
struct Word {
  size_t begin, end;  // bytes
};
std::vector<Word> words_of(std::string_view text);

// Says how the words of a result attend to those of its source.
struct WordAlignment {
  std::vector<Word> source, target;
  // [target][source]: of a target word's tokens on average. A name, number or mark that both sides have gets 1 more
  // there, and 0 from other words.
  std::vector<float> weights;
  std::vector<size_t> best;  // [target]: the source word with the largest weight; none: the number of source words
};
WordAlignment align_words(std::string_view source, const Sentence& sentence);

// Appends text as it is printed.
void append_printed(std::string_view text, bool is_html, std::string* out);

// Writes the translation of a text with its marks. The text must outlive it.
class MarkWriter {
 public:
  explicit MarkWriter(const MarkedText& text) : text_(text) {}
  // Appends the next sentence with what stands before it. Without a result the sentence stays as it is.
  void add(const Sentence& sentence, std::string* out);
  // Appends what stands after the last sentence, or all if there was none.
  void finish(std::string* out) { copy_until(text_.text.size(), true, out); }
  size_t n_unplaced() const { return n_unplaced_; }  // marks that had no place and stand at their sentence's end
 private:
  void copy_until(size_t end, bool with_end, std::string* out);
  const MarkedText& text_;
  bool is_begun_ = false;
  size_t at_ = 0, next_mark_ = 0, n_unplaced_ = 0;
};
}  // namespace goldcrest::host
