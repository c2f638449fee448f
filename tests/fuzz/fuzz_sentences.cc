// SPDX-License-Identifier: Apache-2.0
// Any bytes cut into sentences by any list and limit: the parts are the text, for the work that the header states.
#include "fuzz/script.h"
#include "goldcrest/goldcrest.hpp"
#include "text/characters.h"
#include "unit/text/counted.h"
#include "unit/text/parts.h"

namespace goldcrest::test {
namespace {
size_t character_bytes(std::string_view text) { return read_character(text.data(), text.size()).n(); }

void check_parts(std::string_view text, const PartOptions& how) {
  size_t n_marks = 0;
  for (size_t i = 0; i < text.size(); i += character_bytes(text.substr(i)))
    n_marks += read_character(text.data() + i, text.size() - i).is(kEndMark) ? 1 : 0;
  characters_read = 0;
  const std::vector<Part> parts = parts_of(text, how);
  require(characters_read <= 4 * text.size() + 250 * n_marks + 8, "no more work than stated");
  require(parts_problem(text, how, character_bytes).empty(), "the parts are the text, within the limit");
}

// The reader of the C++ wrapper, with sentences cut further at some places.
void check_reader(std::string_view text, const PartOptions& how, Script& script) {
  const goldcrest_part_options options = {how.abbreviations.data(), how.abbreviations.size(), how.max_bytes};
  SentenceReader reader(text.data(), text.size(), options);
  std::string joined;
  for (bool more = true; more;) {
    more = reader.next();
    const size_t before = reader.bytes();
    while (script.one_in(2) && reader.shorten()) require(reader.bytes() < before, "a piece is shorter");
    joined.append(reader.space(), reader.space_bytes());
    joined.append(reader.sentence(), reader.bytes());
    require(!more || reader.bytes() > 0, "no sentence is empty");
  }
  require(joined == text, "what the reader gives is the text");
}
}  // namespace

void run_input(Script script) {
  Script choices = script;
  PartOptions how;
  how.max_bytes = script.one_in(2) ? 0 : script.below(64);
  how.abbreviations = script.text_of(script.below(32));
  const std::string_view text = script.rest();
  check_parts(text, how);
  check_reader(text, how, choices);
}
}  // namespace goldcrest::test
