// SPDX-License-Identifier: Apache-2.0
// Terms that are likelier than the model thinks: names of people, rooms and things.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "goldcrest/decoding.h"
#include "host/lexicon.h"
#include "host/model_texts.h"
#include "host/session.h"

// A user's term, and the same in lower case.
struct KeyTerm {
  std::string text, low;
};

// A part of a text that is written much like a term. All in bytes.
struct Likeness {
  size_t begin, end;
  const KeyTerm* term;
  size_t n_letters, edits;  // those of the term, and how many of them to change
};

struct Spelling;

// Each further id of a term's spelling gets a bonus. The engine's sequences are of one id each, and change from step to
// step of a greedy search with the ids before: so a list of terms costs no more than a single one.
class KeyTerms {
 public:
  // Reads one term a line. Returns why it cannot, or "".
  std::string read(const std::string& path, const goldcrest::Session& session);

  // Takes these terms in place of earlier ones. It leaves out terms that the vocabulary cannot spell.
  void set(const std::vector<std::string>& terms, const goldcrest::Session& session);

  bool empty() const { return terms_.first_edge.empty(); }

  // Returns where a text is like terms that it does not spell: the likest first, at most a few.
  std::vector<Likeness> find_like(const std::string& text) const;

  const TextCutter& cutter(const goldcrest::Session& session) { return cutter_ ? *cutter_ : cutter_.emplace(session); }
  // Gives the engine the sequences. Returns a negative status on an error.
  int64_t begin(goldcrest_engine* engine);
  // Follows the search: `token` was chosen, and the ids that may go on with a term get their bonus.
  void follow(int32_t token);
 private:
  void add(const Spelling& it, std::vector<std::vector<int32_t>>* entries);
  void take(std::vector<std::vector<int32_t>> entries);

  std::optional<TextCutter> cutter_;  // from cutter()
  std::vector<std::string> names_;    // set() has taken these
  std::vector<KeyTerm> written_;      // all terms
  goldcrest::LexiconSpec terms_;
  std::vector<std::pair<uint32_t, uint32_t>> open_;  // nodes that the last ids lead to, and their depths
  // Room for the ids that go on with two terms at once.
  std::vector<int32_t> ids_;
  std::vector<float> biases_;
};
