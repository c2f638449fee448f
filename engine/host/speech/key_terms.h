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

// Each further id of a term's spelling gets a bonus. The engine's sequences are of one id each, and change from step to
// step of a greedy search with the ids before: so a list of terms costs no more than a single one.
class KeyTerms {
 public:
  // Reads one term a line. Returns why it cannot, or "".
  std::string read(const std::string& path, const goldcrest::Session& session);

  // Takes these terms in place of earlier ones. It leaves out terms that the vocabulary cannot spell.
  void set(const std::vector<std::string>& terms, const goldcrest::Session& session);

  bool empty() const { return terms_.first_edge.empty(); }

  // Gives the engine the sequences. Returns a negative status on an error.
  int64_t begin(goldcrest_engine* engine);
  // Follows the search: `token` was chosen, and the ids that may go on with a term get their bonus.
  void follow(int32_t token);

 private:
  void take(std::vector<std::vector<int32_t>> entries);

  std::optional<TextCutter> cutter_;  // from set()
  std::vector<std::string> names_;    // set() has taken these
  goldcrest::LexiconSpec terms_;
  std::vector<std::pair<uint32_t, uint32_t>> open_;  // nodes that the last ids lead to, and their depths
  // Room for the ids that go on with two terms at once.
  std::vector<int32_t> ids_;
  std::vector<float> biases_;
};
