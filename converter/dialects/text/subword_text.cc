// SPDX-License-Identifier: Apache-2.0
#include "dialects/text/subword_text.h"
#include <algorithm>
#include <unordered_set>
#include <vector>
#include "dialects/text/vocabulary_file.h"
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"
#include "spec/subword_entry.h"

namespace goldcrest::converter {
namespace {
void check_codes(
    const Vocabulary& vocabulary, const std::vector<const SubwordCodes*>& both, std::vector<std::string>& warnings) {
  std::unordered_set<std::string> made;  // a space marks the end of a word
  std::string files;
  for (const SubwordCodes* codes : both) {
    for (const Merge& merge : codes->merges) made.insert(merge.left + merge.right);
    if (codes == both[0] || codes->where != both[0]->where) files += (files.empty() ? "" : " or ") + codes->where;
  }
  // If so, words may end with pieces that other words continue with.
  const bool ends_apart = std::ranges::any_of(both, [](const SubwordCodes* codes) { return codes->word_end_apart; });
  size_t entries = 0, foreign = 0;
  for (uint32_t id = 0; id < vocabulary.id_to_text.size(); ++id) {
    if (is_special(vocabulary, id)) continue;
    const std::string& entry = vocabulary.id_to_text[id];
    const std::string text(without_mark(entry));
    const bool is_character = utf8_length(text) == text.size();
    ++entries;
    const bool is_made = made.contains(goes_on(entry) ? text : text + " ") || (ends_apart && made.contains(text));
    foreign += !is_character && !is_made;
    if (goes_on(entry) && made.contains(entry + " ")) {
      warnings.push_back(
          format_text("{}: {} is both a part of a word and a word that the merges make; it is read only as the part",
              vocabulary.where, in_quotes(entry)));
    }
  }
  if (foreign <= entries / 4) return;
  const std::string text = format_text("{}: {} of its {} entries are neither characters nor made by a merge of {}",
      vocabulary.where, foreign, entries, files);
  if (foreign > entries / 2) throw Error("{}: they belong to different models", text);
  warnings.push_back(text + "; do they belong to different models?");
}
}  // namespace

TokenizerSpec checked_subword_tokenizer(const SubwordSide& side, std::vector<std::string>& warnings) {
  check_codes(*side.vocabulary, {side.codes}, warnings);
  return subword_tokenizer(*side.codes, *side.vocabulary);
}

void set_subword_tokenizers(const SubwordSide& source, const SubwordSide& target, ModelSpec& spec) {
  if (source.vocabulary->where == target.vocabulary->where) {
    check_codes(*source.vocabulary, {source.codes, target.codes}, spec.warnings);
  } else {
    check_codes(*source.vocabulary, {source.codes}, spec.warnings);
    check_codes(*target.vocabulary, {target.codes}, spec.warnings);
  }
  spec.source_tokenizer = subword_tokenizer(*source.codes, *source.vocabulary);
  spec.target_tokenizer = subword_tokenizer(*target.codes, *target.vocabulary);
}

bool is_codes_name(const std::string& name) {
  return name == "bpe.model" || name.starts_with("codes") || name.starts_with("bpecodes") || name.ends_with(".codes") ||
         name.ends_with(".code") || name.ends_with(".bpe");
}

bool is_pieces_name(const std::string& name) { return is_sentencepiece_name(name) && !is_codes_name(name); }

std::optional<std::pair<size_t, size_t>> source_and_target_files(
    const std::vector<std::string>& names, const std::string& what_cuts, const std::string& where) {
  if (names.empty()) return std::nullopt;
  if (names.size() == 1) return {{0, 0}};
  if (names.size() == 2 && is_source_and_target(names[0], names[1])) return {{0, 1}};
  if (names.size() == 2 && is_source_and_target(names[1], names[0])) return {{1, 0}};
  throw Error("{}: which of {} {} texts is not known; expected one, or two whose names have \"source\" and \"target\"",
      where, names.size(), what_cuts);
}

std::string words_warning(const std::string& checkpoint, const std::string& vocabulary) {
  return format_text(
      "{}: there is no SentencePiece model next to it: a text is a list of entries of {}, separated by spaces",
      checkpoint, vocabulary);
}
}  // namespace goldcrest::converter
