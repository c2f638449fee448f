// SPDX-License-Identifier: Apache-2.0
#include "dialects/text/tokenizer_fit.h"
#include <algorithm>
#include <unordered_set>
#include "dialects/text/vocabulary_file.h"
#include "host/wording.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
using Texts = std::unordered_set<std::string_view>;

Texts texts_of(const Vocabulary& vocabulary) { return {vocabulary.id_to_text.begin(), vocabulary.id_to_text.end()}; }

size_t count_known(const TokenizerSpec& model, const Vocabulary& vocabulary) {
  const Texts texts = texts_of(vocabulary);
  return static_cast<size_t>(std::count_if(
      model.pieces.begin(), model.pieces.end(), [&](const Piece& piece) { return texts.contains(piece.text); }));
}

// Returns the language of a model that OPUS-MT trained, or "". The trainer's output path was
// .../work-spm/mg-en/train/opus.trg.spm32k-model, which here means the second of the folder's two languages. A
// checkpoint's source.spm may be either one, because one pair of models serves both directions.
std::string language_of(const std::filesystem::path& model) {
  const std::filesystem::path trained = read_model_prefix(model);
  const std::string name = trained.filename().string();
  const bool is_source = name.find(".src.") != std::string::npos, is_target = name.find(".trg.") != std::string::npos;
  if (is_source == is_target) return "";
  std::string first, second;
  for (const std::filesystem::path& folder : trained.parent_path()) {
    const std::string pair = folder.string();
    const size_t dash = pair.find('-');
    if (dash == std::string::npos || dash != pair.rfind('-')) continue;
    first = pair.substr(0, dash);
    second = pair.substr(dash + 1);
  }
  return is_source ? first : second;
}

void refuse_swapped_languages(const PiecesOf& source, const PiecesOf& target) {
  if (source.language.empty() || target.language.empty() || source.language == target.language) return;
  const std::string of_source = language_of(source.path), of_target = language_of(target.path);
  if (of_source.empty() || of_target.empty()) return;
  const bool some_fit = of_source == source.language || of_target == target.language;
  const bool some_fit_crosswise = of_source == target.language || of_target == source.language;
  if (some_fit || !some_fit_crosswise) return;
  throw Error(
      "{}: was trained on {}, and {} on {}, but the checkpoint translates from {} to {}: source.spm and target.spm are "
      "swapped",
      source.path.string(), in_quotes(of_source), target.path.filename().string(), in_quotes(of_target),
      in_quotes(source.language), in_quotes(target.language));
}
}  // namespace

void check_gaps(const Vocabulary& vocabulary, std::vector<std::string>& warnings) {
  const size_t n_ids = vocabulary.id_to_text.size(), gaps = count_gaps(vocabulary);
  if (gaps > n_ids / 2)
    throw Error("{}: {} of {} ids have no text; it is another model's", vocabulary.where, gaps, n_ids);
  if (gaps > 0) warnings.push_back(format_text("{}: {} of {} ids have no text", vocabulary.where, gaps, n_ids));
}

void check_pieces(const PiecesOf& side, std::vector<std::string>& warnings) {
  const size_t known = count_known(*side.model, *side.vocabulary), n_pieces = side.model->pieces.size();
  if (known >= n_pieces / 2) return;
  warnings.push_back(format_text(
      "{}: only {} of its {} pieces are in {}; is it another model's, or are source.spm and target.spm swapped?",
      side.path.string(), known, n_pieces, side.vocabulary->where));
}

void check_entries(
    const Vocabulary& vocabulary, const std::vector<PiecesOf>& sides, std::vector<std::string>& warnings) {
  Texts pieces;
  std::string models;
  for (const PiecesOf& side : sides) {
    for (const Piece& piece : side.model->pieces) pieces.insert(piece.text);
    models += (models.empty() ? "" : " or ") + side.path.filename().string();
  }
  size_t entries = 0, foreign = 0;
  for (uint32_t id = 0; id < vocabulary.id_to_text.size(); ++id) {
    if (is_special(vocabulary, id)) continue;
    ++entries;
    foreign += !pieces.contains(vocabulary.id_to_text[id]);
  }
  if (foreign <= entries / 4) return;
  const std::string text =
      format_text("{}: {} of its {} entries are not pieces of {}", vocabulary.where, foreign, entries, models);
  if (foreign > entries / 2) throw Error("{}: they belong to different models", text);
  warnings.push_back(text + "; do they belong to different models?");
}

void refuse_swapped(const PiecesOf& source, const PiecesOf& target) {
  refuse_swapped_languages(source, target);
  if (source.vocabulary == target.vocabulary) return;
  const size_t as_they_are =
      count_known(*source.model, *source.vocabulary) + count_known(*target.model, *target.vocabulary);
  const size_t crosswise =
      count_known(*source.model, *target.vocabulary) + count_known(*target.model, *source.vocabulary);
  const size_t n_pieces = source.model->pieces.size() + target.model->pieces.size();
  if (crosswise <= as_they_are + n_pieces / 10) return;
  throw Error(
      "{}: of its pieces and those of {}, {} of {} are in {} and {}, and {} the other way round: source.spm and "
      "target.spm are swapped",
      source.path.string(), target.path.filename().string(), as_they_are, n_pieces, source.vocabulary->where,
      std::filesystem::path(target.vocabulary->where).filename().string(), crosswise);
}

void check_both(const PiecesOf& source, const PiecesOf& target, std::vector<std::string>& warnings) {
  refuse_swapped(source, target);
  check_pieces(source, warnings);
  check_pieces(target, warnings);
  if (source.vocabulary == target.vocabulary) {
    check_entries(*source.vocabulary, {source, target}, warnings);
  } else {
    check_entries(*source.vocabulary, {source}, warnings);
    check_entries(*target.vocabulary, {target}, warnings);
  }
}
}  // namespace goldcrest::converter
