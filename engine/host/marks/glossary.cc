// SPDX-License-Identifier: Apache-2.0
#include "host/marks/glossary.h"
#include <algorithm>
#include <utility>
#include "host/text_lines.h"
#include "host/wording.h"

namespace goldcrest::host {
namespace {
std::string_view text_of(std::string_view text, Word place) {
  return text.substr(place.begin, place.end - place.begin);
}

// Returns the text with a capital first letter: of ASCII, Latin-1, or Cyrillic.
std::string capitalized(std::string text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) >= 'a' && byte(0) <= 'z') text[0] = static_cast<char>(byte(0) - 32);
  const bool is_latin = byte(0) == 0xC3 && byte(1) >= 0xA0 && byte(1) != 0xB7 && byte(1) != 0xBF;
  const bool is_cyrillic = (byte(0) == 0xD0 && byte(1) >= 0xB0) || (byte(0) == 0xD1 && byte(1) < 0x90);
  if (is_latin || (is_cyrillic && byte(0) == 0xD0)) text[1] = static_cast<char>(byte(1) - 32);
  if (is_cyrillic && byte(0) == 0xD1) text[0] = '\xD0', text[1] = static_cast<char>(byte(1) + 32);
  return text;
}

std::string_view source_of(const MarkedText& text, const Sentence& sentence) {
  return std::string_view(text.text).substr(sentence.begin, sentence.bytes);
}

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return std::string(text);
}
}  // namespace

std::string Glossary::add(const std::string& line) {
  if (is_blank(line)) return "";
  const std::string problem = text_problem(line);
  if (!problem.empty()) return problem;
  const size_t tab = line.find('\t');
  if (tab == line.npos) return "no tab; expected a phrase of the source, a tab, and its translation";
  Term term = {trimmed(std::string_view(line).substr(0, tab)), {}};
  const std::vector<Word> words = words_of(term.phrase);
  if (words.empty()) return "no phrase before the tab";
  for (size_t at = tab + 1; at <= line.size();) {
    const size_t end = std::min(line.find('|', at), line.size());
    term.forms.push_back(trimmed(std::string_view(line).substr(at, end - at)));
    at = end + 1;
    std::vector<int32_t> ids;
    if (words_of(term.forms.back()).empty()) return "a form after the tab is empty";
    const std::string unspelled = cutter_.cut(term.forms.back(), &ids);
    if (!unspelled.empty()) return unspelled;
  }
  const std::string first(text_of(term.phrase, words[0]));
  std::vector<size_t>& terms = by_first_word_[first];
  for (const size_t other : terms)
    if (terms_[other].phrase == term.phrase && terms_[other].forms == term.forms) return "";
  for (const size_t other : terms)
    if (terms_[other].phrase == term.phrase)
      return in_quotes(term.phrase) + " has another translation on a line before";
  std::vector<std::string> keys = {first};
  if (capitalized(first) != first) keys.push_back(capitalized(first));
  terms_.push_back(std::move(term));
  for (const std::string& key : keys) {
    std::vector<size_t>& list = by_first_word_[key];
    list.push_back(terms_.size() - 1);
    const auto is_longer = [&](size_t a, size_t b) { return terms_[a].phrase.size() > terms_[b].phrase.size(); };
    std::stable_sort(list.begin(), list.end(), is_longer);
  }
  return "";
}

std::vector<Glossary::Use> Glossary::uses_in(std::string_view source) const {
  std::vector<Use> uses;
  const std::vector<Word> words = words_of(source);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto found = by_first_word_.find(std::string(text_of(source, words[i])));
    if (found == by_first_word_.end()) continue;
    for (const size_t term : found->second) {
      const std::string& phrase = terms_[term].phrase;
      const Word place = {words[i].begin, words[i].begin + phrase.size()};
      const auto text = source.substr(place.begin, phrase.size());
      const auto ends = [&](const Word& word) { return word.end == place.end; };
      const auto last = std::find_if(words.begin() + static_cast<ptrdiff_t>(i), words.end(), ends);
      if (last == words.end() || (text != phrase && (i != 0 || text != capitalized(phrase)))) continue;
      uses.push_back({term, place});
      i = static_cast<size_t>(last - words.begin());
      break;
    }
  }
  return uses;
}

// Returns the places of a text that have a form of the term.
std::vector<Word> Glossary::forms_in(const Term& term, std::string_view text) const {
  std::vector<Word> places;
  const std::vector<Word> words = words_of(text);
  for (const Word& word : words) {
    if (!places.empty() && word.begin < places.back().end) continue;
    size_t longest = 0;
    for (const std::string& form : term.forms) {
      const size_t end = word.begin + form.size();
      const auto found = text.substr(word.begin, form.size());
      const auto ends = [&](const Word& other) { return other.end == end; };
      if (found != form && (word.begin != 0 || found != capitalized(form))) continue;
      if (form.size() > longest && std::any_of(words.begin(), words.end(), ends)) longest = form.size();
    }
    if (longest > 0) places.push_back({word.begin, word.begin + longest});
  }
  return places;
}

// Returns the uses of terms that a text has too few forms of.
std::vector<Glossary::Use> Glossary::missing_in(const std::vector<Use>& uses, std::string_view text) const {
  std::vector<Use> missing;
  std::unordered_map<size_t, size_t> n_found;  // forms of a term that belong to no use yet
  for (const Use& use : uses) n_found.emplace(use.term, 0);
  for (auto& [term, n] : n_found) n = forms_in(terms_[term], text).size();
  for (const Use& use : uses)
    if (n_found[use.term] == 0) missing.push_back(use);
    else --n_found[use.term];
  return missing;
}

// Gives the sentence a prefix that ends with the term. Returns false if there is no room for it.
bool Glossary::add_prefix(const Place& place, const WordAlignment& alignment, Sentence* sentence) const {
  const Found& found = sentence->found[0];
  size_t token = place.token, begin = token == 0 ? 0 : found.ends[token - 1];
  const size_t word = alignment.target[place.word].begin;
  // The pieces of what touches the word before it are chosen again together with the term.
  while (token > 0 && begin > 0 && !is_space(found.text[begin - 1]) && !is_space(found.text[begin]))
    begin = --token == 0 ? 0 : found.ends[token - 1];
  const auto before = [&](size_t i) { return i < 2 ? 0 : found.ends[i - 2]; };  // the beginning of token i - 1
  while (token > 0 && std::all_of(&found.text[before(token)], &found.text[begin], is_space)) begin = before(token--);
  if (begin < word && is_space(found.text[begin])) ++begin;
  const std::string& form = terms_[place.use->term].forms[0];
  std::string text = found.text.substr(begin, word - begin) + (word == 0 ? capitalized(form) : form);
  if (begin > 0 && session_.traits().target_adds_space == 0) text.insert(0, " ");
  std::vector<int32_t> ids(found.ids.begin(), found.ids.begin() + static_cast<ptrdiff_t>(token));
  if (!cutter_.cut(text, &ids).empty() || ids.size() > session_.memory().limits.max_prefix_tokens) return false;
  sentence->target = std::move(ids);
  return true;
}

namespace {
// The next search has the term in its prefix only.
void suppress(const std::vector<Word>& places, Sentence* sentence) {
  const Found& found = sentence->found[0];
  const auto id_at = [&](size_t at) {
    return found.ids.begin() + (std::upper_bound(found.ends.begin(), found.ends.end(), at) - found.ends.begin());
  };
  for (const Word& place : places) {
    sentence->suppressed.push_back(static_cast<int32_t>(id_at(place.end - 1) + 1 - id_at(place.begin)));
    sentence->suppressed.insert(sentence->suppressed.end(), id_at(place.begin), id_at(place.end - 1) + 1);
  }
  sentence->target.clear();
}

// If the result goes on with a part of the prefix's last word, adds the next token that begins a word to the prefix.
bool ends_word(const WordAlignment& alignment, Sentence* sentence) {
  const Found& found = sentence->found[0];
  std::vector<int32_t>& prefix = sentence->target;
  const auto splits_word = [&](size_t token) {
    const size_t at = found.ends[token - 1];
    return std::any_of(alignment.target.begin(), alignment.target.end(),
        [at](const Word& word) { return word.begin < at && at < word.end; });
  };
  if (prefix.empty() || prefix.size() >= found.ids.size() || !splits_word(prefix.size())) return false;
  size_t next = prefix.size();
  while (next < found.ids.size() && splits_word(next)) ++next;
  if (next + 1 >= found.ids.size()) return false;  // only the end is left
  prefix.push_back(found.ids[next]);
  ++sentence->n_again;
  return true;
}
}  // namespace

// Returns the places in a text of terms that it has too many forms of.
std::vector<Word> Glossary::surplus_in(const std::vector<Use>& uses, std::string_view text) const {
  std::vector<Word> surplus;
  for (const Use& use : uses) {
    const auto is_same = [&](const Use& other) { return other.term == use.term; };
    const std::vector<Word> places = forms_in(terms_[use.term], text);
    const auto n = static_cast<size_t>(std::count_if(uses.begin(), uses.end(), is_same));
    if (places.size() > n) surplus.insert(surplus.end(), places.begin(), places.end());
  }
  return surplus;
}

bool Glossary::has_mistake(const MarkedText& text, const Sentence& sentence) const {
  const std::vector<Use> uses = uses_in(source_of(text, sentence));
  const std::string& result = sentence.found[0].text;
  return !uses.empty() && (!missing_in(uses, result).empty() || !surplus_in(uses, result).empty());
}

bool Glossary::wants_again(MarkedText* text, Sentence* sentence) const {
  if (sentence->found.empty() || sentence->found[0].ends.empty()) return false;
  const Found& found = sentence->found[0];
  const std::string_view source = source_of(*text, *sentence);
  const std::vector<Use> uses = uses_in(source), missing = missing_in(uses, found.text);
  const std::vector<Word> surplus = surplus_in(uses, found.text);
  if (!surplus.empty() && sentence->suppressed.empty()) {
    ++sentence->n_again;
    suppress(surplus, sentence);
    return true;
  }
  if (missing.empty()) return false;
  const WordAlignment alignment = align_words(source, *sentence);
  if (sentence->n_again <= 2 * uses.size() && ends_word(alignment, sentence)) return true;
  Place first = {nullptr, 0, found.ids.size()};
  for (const Use& use : missing) {
    const auto is_of = [&](size_t word) {
      const bool exists = word < alignment.source.size();
      return exists && alignment.source[word].begin >= use.place.begin && alignment.source[word].end <= use.place.end;
    };
    size_t best = alignment.target.size();
    float most = 0;
    for (size_t t = 0; t < alignment.target.size(); ++t) {
      float weight = 0;
      for (size_t s = 0; s < alignment.source.size(); ++s)
        if (is_of(s)) weight += alignment.weights[t * alignment.source.size() + s];
      if (weight > most) best = t, most = weight;
    }
    const std::vector<Word> phrase = words_of(terms_[use.term].phrase);
    for (size_t n = 1; n < phrase.size() && best > 0 && best < alignment.target.size(); ++n)
      if (is_of(alignment.best[best - 1])) --best;
    if (best == alignment.target.size()) continue;
    const size_t begin = alignment.target[best].begin;
    const auto token = std::upper_bound(found.ends.begin(), found.ends.end(), begin) - found.ends.begin();
    if (static_cast<size_t>(token) < first.token) first = {&use, best, static_cast<size_t>(token)};
  }
  if (first.use != nullptr && first.token >= sentence->target.size() && sentence->n_again <= 2 * uses.size()) {
    ++sentence->n_again;
    if (add_prefix(first, alignment, sentence)) return true;
  }
  for (const Use& use : missing) {
    const size_t begin = sentence->begin + use.place.begin, end = sentence->begin + use.place.end;
    const auto next = std::find_if(text->marks.begin(), text->marks.end(), [&](const Mark& m) { return m.at > begin; });
    if (next != text->marks.end() && next->at < end) continue;
    Mark mark = {Mark::kKept, begin, "", end - begin};
    append_printed(terms_[use.term].forms[0], text->is_html, &mark.text);
    text->marks.insert(next, std::move(mark));
  }
  return false;
}
}  // namespace goldcrest::host
