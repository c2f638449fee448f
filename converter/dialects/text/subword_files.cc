// SPDX-License-Identifier: Apache-2.0
// Recognises, by their names, the files next to a checkpoint that cut its texts into pieces.
#include "dialects/text/subword_files.h"

#include "dialects/text/vocabulary_file.h"
#include "spec/error.h"

namespace goldcrest::converter {

bool is_codes_name(const std::string& name) {
  return name == "bpe.model" || name.starts_with("codes") || name.starts_with("bpecodes") || name.ends_with(".codes") ||
         name.ends_with(".code") || name.ends_with(".bpe");
}

bool is_pieces_name(const std::string& name) { return is_sentencepiece_name(name) && !is_codes_name(name); }

std::optional<std::pair<size_t, size_t>> source_and_target_files(const std::vector<std::string>& names,
                                                                 const std::string& what_cuts,
                                                                 const std::string& where) {
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
