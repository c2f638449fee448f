// SPDX-License-Identifier: Apache-2.0
// Terms whose translation is given. A sentence is searched as always. If a term is missing then, the search is repeated
// with the result's beginning up to the place of the term, and the term, as a prefix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include "goldcrest/decoding.h"
#include "host/marks/marked_text.h"
#include "host/model_texts.h"
#include "host/sentence_search.h"

namespace goldcrest::host {
class Glossary {
 public:
  // The session and the cutter must outlive it.
  Glossary(const Session& session, const TextCutter& cutter) : session_(session), cutter_(cutter) {}

  // Adds a line: a phrase of the source, a tab, and the forms that its translation may have, with | between; the first
  // one is written where the model chooses none. Returns why the line is refused, or "". A blank line adds nothing.
  std::string add(const std::string& line);
  bool empty() const { return terms_.empty(); }

  // For SentenceSearch::Options::aligns: whether terms are missing in a sentence's result, or appear too often. At the
  // beginning of a sentence, a phrase and a form may have a capital letter.
  bool has_mistake(const MarkedText& text, const Sentence& sentence) const;
  // For SentenceSearch::Options::again, with prefix_flags kPrefixFlags. Returns true if the sentence has another
  // prefix, with which a term appears, or suppresses a term that appears too often. A term that no search brings
  // becomes a kept mark of the text.
  static constexpr uint32_t kPrefixFlags = GOLDCREST_PREFIX_IN_LENGTHS;
  bool wants_again(MarkedText* text, Sentence* sentence) const;
 private:
  struct Term {
    std::string phrase;
    std::vector<std::string> forms;
  };
  struct Use {
    size_t term;
    Word place;  // bytes of the source
  };
  // A place of the result for a use that it lacks.
  struct Place {
    const Use* use;
    size_t word, token;
  };
  std::vector<Use> uses_in(std::string_view source) const;
  std::vector<Word> forms_in(const Term& term, std::string_view text) const;
  std::vector<Use> missing_in(const std::vector<Use>& uses, std::string_view text) const;
  std::vector<Word> surplus_in(const std::vector<Use>& uses, std::string_view text) const;
  bool add_prefix(const Place& place, const WordAlignment& alignment, Sentence* sentence) const;

  const Session& session_;
  const TextCutter& cutter_;
  std::vector<Term> terms_;
  std::unordered_map<std::string, std::vector<size_t>> by_first_word_;  // terms, the longest phrase first
};
}  // namespace goldcrest::host
