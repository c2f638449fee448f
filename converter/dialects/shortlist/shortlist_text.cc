// SPDX-License-Identifier: Apache-2.0
// Shortlists as texts: Marian's lex.s2t (marian-dev at 2781d735, src/data/shortlist.cpp) and CTranslate2's vmap.txt
// (src/vocabulary_map.cc at 0d8bcd36).
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include "dialects/shortlist/shortlist_file.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMaxLexiconBytes = uint64_t{1} << 30;
constexpr size_t kMaxNgram = 16;

// Looks ids up by text. A missing text gives the unknown id, or nothing.
class Lookup {
 public:
  explicit Lookup(const TokenizerSpec& tokenizer) : unknown_id_(tokenizer.unknown_id) {
    for (uint32_t id = 0; id < tokenizer.vocab_size; ++id)
      if (!tokenizer.pieces[id].text.empty()) ids_.emplace(tokenizer.pieces[id].text, id);
  }

  uint32_t id_or_unknown(std::string_view text) const { return find(text).value_or(unknown_id_); }
  std::optional<uint32_t> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
 private:
  uint32_t unknown_id_;
  std::unordered_map<std::string_view, uint32_t> ids_;
};

// Calls line(number from 1, text) for each line that is not empty.
template <typename Line> void for_each_line(const std::string& content, Line line) {
  size_t number = 1;
  for (size_t at = 0; at < content.size(); ++number) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string_view text(content.data() + at, end - at);
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (!text.empty()) line(number, text);
    at = end + 1;
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSpace, end);
  }
  return words;
}

void sort_once(std::vector<uint32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// `lists`: a list for each source id.
void set_lists(std::vector<std::vector<uint32_t>>& lists, ShortlistSpec& shortlist) {
  shortlist.offset = {0};
  for (std::vector<uint32_t>& list : lists) {
    sort_once(list);
    shortlist.ids.insert(shortlist.ids.end(), list.begin(), list.end());
    shortlist.offset.push_back(shortlist.ids.size());
  }
}

struct Pair {
  double probability;
  uint32_t id;
};

// Returns the most probable ids. Greater ids win a tie, as in Marian.
std::vector<uint32_t> best_of(const std::unordered_map<uint32_t, double>& found, const LexicalOptions& options) {
  std::vector<Pair> pairs;
  for (const auto& [id, probability] : found)
    if (probability > options.threshold) pairs.push_back({probability, id});
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.id > b.id;
  });
  std::vector<uint32_t> ids;
  for (size_t i = 0; i < std::min<size_t>(pairs.size(), options.best); ++i) ids.push_back(pairs[i].id);
  return ids;
}

double probability_of(std::string_view text, const std::string& where, size_t number) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
    throw Error("{}:{}: {} is not a probability, expected a number from 0 to 1", where, number, in_quotes(text));
  return value;
}
}  // namespace

ShortlistSpec read_lexical_shortlist(
    const std::filesystem::path& path, const ShortlistTexts& texts, const LexicalOptions& options) {
  const std::string where = path.string(), content = read_small_file(path, kMaxLexiconBytes);
  const Lookup source(texts.source), target(texts.target);
  std::vector<std::unordered_map<uint32_t, double>> found(texts.source.vocab_size);
  for_each_line(content, [&](size_t number, std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 3)
      throw Error("{}:{}: has {} words, expected three: target, source, probability", where, number, words.size());
    const double probability = probability_of(words[2], where, number);
    if (words[0] == "NULL" || words[1] == "NULL") return;
    double& most = found[source.id_or_unknown(words[1])][target.id_or_unknown(words[0])];
    most = std::max(most, probability);
  });
  ShortlistSpec shortlist;
  shortlist.always.resize(std::min(options.first, texts.target.vocab_size));
  std::iota(shortlist.always.begin(), shortlist.always.end(), 0u);
  std::vector<std::vector<uint32_t>> lists;
  for (const auto& pairs : found) lists.push_back(best_of(pairs, options));
  set_lists(lists, shortlist);
  return shortlist;
}

ShortlistSpec read_vocabulary_map(
    const std::filesystem::path& path, const ShortlistTexts& texts, std::vector<std::string>& warnings) {
  const std::string where = path.string(), content = read_small_file(path, kMaxLexiconBytes);
  const Lookup source(texts.source), target(texts.target);
  ShortlistSpec shortlist;
  std::vector<std::vector<uint32_t>> lists(texts.source.vocab_size);
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> ngrams;
  size_t lost_rules = 0, lost_targets = 0;
  for_each_line(content, [&](size_t number, std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos)
      throw Error("{}:{}: expected one tab, between the source's pieces and the target's", where, number);
    std::vector<uint32_t> ngram;
    bool is_known = true;
    for (const std::string_view word : words_of(line.substr(0, tab))) {
      const auto id = source.find(word);
      is_known = is_known && id;
      ngram.push_back(id.value_or(0));
    }
    if (ngram.size() > kMaxNgram)
      throw Error("{}:{}: has {} pieces of the source, expected at most {}", where, number, ngram.size(), kMaxNgram);
    if (!is_known) {
      ++lost_rules;
      return;
    }
    std::vector<uint32_t>& ids = ngram.empty() ? shortlist.always : ngram.size() == 1 ? lists[ngram[0]] : ngrams[ngram];
    for (const std::string_view word : words_of(line.substr(tab + 1))) {
      const auto id = target.find(word);
      lost_targets += !id;
      if (id) ids.push_back(*id);
    }
  });
  sort_once(shortlist.always);
  set_lists(lists, shortlist);
  for (auto& [ngram, ids] : ngrams) {
    sort_once(ids);
    shortlist.ngrams.push_back({ngram, std::move(ids)});
  }
  if (lost_rules + lost_targets > 0) {
    warnings.push_back(format_text("{}: {} of its lines and {} of its candidates are not of this model's vocabularies",
        where, lost_rules, lost_targets));
  }
  return shortlist;
}
}  // namespace goldcrest::converter
