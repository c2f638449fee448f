// SPDX-License-Identifier: Apache-2.0
// Cuts an HTML document into texts without tags, as its bytes come. Memory is that of a text and of the open elements.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include "host/marks/marked_text.h"

namespace goldcrest::host {
// Elements of a line, such as <b>, are marks of a text; all others end it. So does a line end outside of such a block;
// inside it a line end is a space. Comments, void elements and entities that it does not know are points. The text of
// <code> and its like, and of elements with translate="no", is kept. <pre>, <script> and <style> stay as they are.
class HtmlReader {
 public:
  void push(std::string_view bytes);
  void finish();
  // Moves the next text out. Returns false if it is not complete yet; after finish() if there is none.
  bool next(MarkedText* text);

  // Tags that were not well-formed, and the first one with its line.
  size_t n_problems() const { return n_problems_; }
  const std::string& first_problem() const { return first_problem_; }
 private:
  enum class State { kText, kTagOpen, kTag, kDeclaration, kRaw };
  struct Open {
    std::string name;
    bool is_block;
    size_t part, mark;  // its mark, if its text is not complete yet
  };
  void push(char c);
  void push_tag(char c);
  void push_raw(char c);
  void end_tag();
  void begin_element(const std::string& name, bool is_block, bool is_empty);
  void end_element(const std::string& name, bool is_block);
  bool begins_raw(const std::string& name) const;
  void pop(bool is_closed);
  void add_text(std::string_view run);
  size_t add_entity(std::string_view run);
  void add_space();
  void add_mark(Mark::Kind kind, std::string text);
  void add_tag(bool is_block, Mark::Kind kind);
  void end_part();
  void problem(const std::string& what);

  State state_ = State::kText;
  std::string run_, pending_, space_;  // text with entities, an incomplete tag, white space that may end the text
  char quote_ = '\0', last_ = '\0';    // within a tag: of a value, and the last character that is no space
  std::string raw_name_;               // the element that is kept
  size_t raw_depth_ = 0, raw_tag_ = 0;
  MarkedText part_ = {{}, {}, {}, true};
  bool has_letters_ = false;  // the text has more than white space
  size_t n_parts_ = 0;
  std::deque<MarkedText> parts_;
  std::vector<Open> open_;
  std::unordered_map<std::string, size_t> n_open_;
  size_t n_blocks_ = 0, line_ = 1, n_problems_ = 0;
  std::string first_problem_;
};
}  // namespace goldcrest::host
