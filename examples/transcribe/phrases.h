// SPDX-License-Identifier: Apache-2.0
// The only sentences that may be heard: their spellings as a lexicon.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/lexicon.h"
#include "host/session.h"

class Phrases {
 public:
  // Reads one phrase a line. Each may begin with a capital letter, be in lower case, and end with a mark. Returns why
  // it cannot, or "".
  std::string read(const std::string& path, const goldcrest::Session& session);

  bool empty() const { return phrases_.empty(); }
  const goldcrest::LexiconSpec& lexicon() const { return lexicon_; }

  // Returns spellings of the phrases that are most like a text.
  std::vector<std::vector<int32_t>> nearest(const std::string& text) const;

  // Returns the phrase, as its line has it, that these ids spell; "" if none does.
  std::string spelled(const std::vector<int32_t>& ids) const;

 private:
  std::map<std::vector<int32_t>, std::string> phrases_;
  std::map<std::string, std::vector<int32_t>> sentences_;  // by their texts: those with a capital and a mark
  goldcrest::LexiconSpec lexicon_;
};
