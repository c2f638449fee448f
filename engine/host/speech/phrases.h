// SPDX-License-Identifier: Apache-2.0
// The only sentences that may be heard: their spellings as a lexicon.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "host/lexicon.h"
#include "host/model_texts.h"
#include "host/session.h"

// One way in which models write a text of the user's.
struct Spelling {
  const std::string& line;  // the user's text
  std::string text;
  std::vector<int32_t> ids;
  std::vector<int32_t> ids_without_space;  // before it; empty: the model's texts always begin with one
  bool has_mark, is_sentence;              // it ends with a mark; it begins with a capital
};

// Calls `visit` for each spelling of a text. Returns why it has none, or "".
std::string visit_spellings(const std::string& line, const TextCutter& cutter, const goldcrest::Session& session,
    const std::function<void(const Spelling&)>& visit);
// The same for each line of a file.
std::string read_spellings(
    const std::string& path, const goldcrest::Session& session, const std::function<void(const Spelling&)>& visit);

class Phrases {
 public:
  // Reads one phrase a line. Each may begin with a capital letter, be in lower case, and end with a mark. Returns why
  // it cannot, or "".
  std::string read(const std::string& path, const goldcrest::Session& session);

  bool empty() const { return phrases_.empty(); }
  const goldcrest::LexiconSpec& lexicon() const { return lexicon_; }

  // Returns spellings of the phrases that are most like a text.
  std::vector<std::vector<int32_t>> nearest(const std::string& text) const;

  // Returns the phrase that these ids spell, as its line writes it; "" if none does.
  std::string spelled(const std::vector<int32_t>& ids) const;
 private:
  std::map<std::vector<int32_t>, std::string> phrases_;
  std::map<std::string, std::vector<int32_t>> sentences_;  // by their texts: those with a capital and a mark
  goldcrest::LexiconSpec lexicon_;
};
