// SPDX-License-Identifier: Apache-2.0
#include "spec/trim_vocabulary.h"
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include "host/printable.h"
#include "spec/error.h"
#include "spec/subword_entry.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kRemoved = UINT32_MAX;
constexpr std::string_view kSpacePiece = "\u2581";

using Ids = std::set<uint32_t>;

// Returns the new id of each old id, or kRemoved.
std::vector<uint32_t> renumbered(const std::vector<uint32_t>& kept, uint32_t vocab_size) {
  std::vector<uint32_t> new_ids(vocab_size, kRemoved);
  for (uint32_t i = 0; i < kept.size(); ++i) new_ids[kept[i]] = i;
  return new_ids;
}

void renumber(const std::vector<uint32_t>& new_ids, uint32_t& id) { id = new_ids[id]; }

void renumber(const std::vector<uint32_t>& new_ids, std::optional<uint32_t>& id) {
  if (id) id = new_ids[*id];
}

void renumber(const std::vector<uint32_t>& new_ids, std::vector<uint32_t>& ids) {
  for (uint32_t& id : ids) id = new_ids[id];
}

// Returns the new ids of those that are kept.
std::vector<uint32_t> kept_of(const std::vector<uint32_t>& new_ids, std::vector<uint32_t> ids) {
  renumber(new_ids, ids);
  std::erase(ids, kRemoved);
  return ids;
}

bool is_language_code(const std::string& text) {
  return text.size() > 4 && text.starts_with(">>") && text.ends_with("<<");
}

bool is_needed(const Piece& piece) {
  switch (piece.type) {
    case PieceType::kControl: return !piece.text.empty();  // false: an id without text
    case PieceType::kUnknown:
    case PieceType::kUserDefined:
    case PieceType::kByte: return true;
    default: return piece.text == kSpacePiece || is_language_code(piece.text);
  }
}

void add_needed(const std::optional<TokenizerSpec>& tokenizer, Ids& ids) {
  if (!tokenizer) return;
  ids.insert(tokenizer->unknown_id);
  for (uint32_t id = 0; id < tokenizer->vocab_size; ++id)
    if (is_needed(tokenizer->pieces[id])) ids.insert(id);
  for (const AddedToken& token : tokenizer->added) ids.insert(token.id);
}

// Adds the pieces with the extreme scores, because pack_tokenizer takes the bounds from all normal pieces.
void add_bounds_of_scores(const std::optional<TokenizerSpec>& tokenizer, Ids& ids) {
  if (!tokenizer || tokenizer->kind != TokenizerKind::kUnigram) return;
  const auto end = tokenizer->pieces.begin() + tokenizer->vocab_size;
  const auto is_less = [](const Piece& a, const Piece& b) { return a.score < b.score; };
  auto least = end, largest = end;
  for (auto piece = tokenizer->pieces.begin(); piece != end; ++piece) {
    if (piece->type != PieceType::kNormal) continue;
    if (least == end || is_less(*piece, *least)) least = piece;
    if (largest == end || is_less(*largest, *piece)) largest = piece;
  }
  for (const auto piece : {least, largest})
    if (piece != end) ids.insert(static_cast<uint32_t>(piece - tokenizer->pieces.begin()));
}

void add_generation_ids(const ModelSpec& spec, Ids& ids) {
  const GenerationSpec& generation = spec.generation;
  ids.insert({generation.decoder_start_id, generation.end_id});
  for (const auto& id : {generation.pad_id, generation.unknown_id, generation.forced_first_id})
    if (id) ids.insert(*id);
  ids.insert(generation.suppressed_ids.begin(), generation.suppressed_ids.end());
  ids.insert(generation.rules.more_end_ids.begin(), generation.rules.more_end_ids.end());
  for (const auto& [id, bias] : generation.rules.biases) ids.insert(id);
  const PromptSpec& prompt = generation.prompt;
  for (const auto* list : {&prompt.first_choices, &prompt.forced_ids, &prompt.first_suppressed_ids})
    ids.insert(list->begin(), list->end());
  for (const SequenceSpec& sequence : generation.sequences.list) ids.insert(sequence.ids.begin(), sequence.ids.end());
  const uint32_t target_ids = spec.decoder.embedding->rows;
  for (uint32_t i = 1; i <= spec.added_target_ids; ++i) ids.insert(target_ids - i);
}

Matrix rows_of(const Matrix& matrix, const std::vector<uint32_t>& ids) {
  Matrix rows;
  rows.name = matrix.name;
  rows.rows = static_cast<uint32_t>(ids.size());
  rows.columns = matrix.columns;
  std::vector<float> values;
  values.reserve(ids.size() * matrix.columns);
  for (const uint32_t id : ids) {
    values.insert(values.end(), matrix.row(id), matrix.row(id) + matrix.columns);
    if (!matrix.stored_scale.empty()) rows.stored_scale.push_back(matrix.stored_scale[id]);
  }
  matrix.values.release();
  rows.values = std::move(values);
  return rows;
}

void trim_tables(const KeptIds& kept, ModelSpec& spec) {
  const auto source = spec.encoder.embedding, target = spec.decoder.embedding, projection = spec.projection.weight;
  const auto trimmed = [](const Matrix& matrix, const std::vector<uint32_t>& ids) {
    return std::make_shared<const Matrix>(rows_of(matrix, ids));
  };
  spec.encoder.embedding = trimmed(*source, kept.source);
  spec.decoder.embedding = target == source ? spec.encoder.embedding : trimmed(*target, kept.target);
  spec.projection.weight = projection == target   ? spec.decoder.embedding
                           : projection == source ? spec.encoder.embedding
                                                  : trimmed(*projection, kept.target);
  std::vector<float> bias;
  for (const uint32_t id : kept.target) bias.push_back(spec.projection.bias[id]);
  spec.projection.bias = std::move(bias);
}

// Byte-pair encoding reaches a piece through shorter ones. The removed ones stay after the vocabulary as unused pieces,
// which are merged and finally split again. All of them are parts of pieces that stay.
void add_merges(const std::vector<const Piece*>& removed, std::vector<Piece>& pieces) {
  std::unordered_map<std::string_view, const Piece*> left;
  for (const Piece* piece : removed) {
    const bool is_merged = piece->type == PieceType::kNormal || piece->type == PieceType::kUnused;
    if (is_merged && piece->text.size() > utf8_length(piece->text)) left.emplace(piece->text, piece);
  }
  const auto last = pieces.size();
  for (size_t i = 0; i < last; ++i) {
    if (pieces[i].type != PieceType::kNormal && pieces[i].type != PieceType::kUnused) continue;
    const std::string text = pieces[i].text;
    for (size_t begin = 0; begin < text.size(); ++begin) {
      for (size_t n = 2; n <= text.size() - begin; ++n) {
        const auto part = left.find(std::string_view(text).substr(begin, n));
        if (part == left.end()) continue;
        pieces.push_back({part->second->text, part->second->score, PieceType::kUnused});
        left.erase(part);
      }
    }
  }
}

// subword-nmt's merges stay. Entries that were removed are split again after merging.
void add_removed(const std::vector<const Piece*>& removed, std::vector<Piece>& pieces) {
  for (const Piece* piece : removed) {
    const std::string_view text = without_mark(piece->text);
    const bool is_merged = piece->type == PieceType::kNormal && utf8_length(text) < text.size();
    if (is_merged) pieces.push_back({piece->text, 0, PieceType::kUnused});
  }
}

void trim_tokenizer(const std::vector<uint32_t>& kept, TokenizerSpec& tokenizer) {
  const std::vector<uint32_t> new_ids = renumbered(kept, tokenizer.vocab_size);
  std::vector<Piece> pieces;
  std::vector<const Piece*> removed;
  for (uint32_t entry = 0; entry < tokenizer.pieces.size(); ++entry) {
    const Piece& piece = tokenizer.pieces[entry];
    const bool stays = entry >= tokenizer.vocab_size || new_ids[entry] != kRemoved;
    if (stays) pieces.push_back(piece);
    else removed.push_back(&piece);
  }
  if (tokenizer.kind == TokenizerKind::kBpe) add_merges(removed, pieces);
  if (tokenizer.kind == TokenizerKind::kSubword) add_removed(removed, pieces);
  tokenizer.pieces = std::move(pieces);
  tokenizer.vocab_size = static_cast<uint32_t>(kept.size());
  renumber(new_ids, tokenizer.unknown_id);
  for (AddedToken& token : tokenizer.added) renumber(new_ids, token.id);
}

// New ids of both sides.
struct NewIds {
  std::vector<uint32_t> source, target;
};

void renumber_generation(const NewIds& new_ids, GenerationSpec& generation) {
  renumber(new_ids.target, generation.decoder_start_id);
  renumber(new_ids.target, generation.end_id);
  renumber(new_ids.target, generation.pad_id);
  renumber(new_ids.target, generation.unknown_id);
  renumber(new_ids.target, generation.forced_first_id);
  renumber(new_ids.target, generation.suppressed_ids);
  renumber(new_ids.target, generation.rules.more_end_ids);
  renumber(new_ids.target, generation.prompt.first_choices);
  renumber(new_ids.target, generation.prompt.forced_ids);
  renumber(new_ids.target, generation.prompt.first_suppressed_ids);
  for (SequenceSpec& sequence : generation.sequences.list) renumber(new_ids.target, sequence.ids);
  renumber(new_ids.source, generation.source_prefix);
  renumber(new_ids.source, generation.source_suffix);
  std::map<uint32_t, float> biases;
  for (const auto& [id, bias] : generation.rules.biases) biases[new_ids.target[id]] = bias;
  generation.rules.biases = std::move(biases);
}

void renumber_languages(const NewIds& new_ids, LanguagesSpec& languages) {
  const bool is_before = languages.target_place == LanguagePlace::kBeforeText;
  for (Language& entry : languages.entries) {
    renumber(new_ids.source, entry.source);
    renumber(is_before ? new_ids.source : new_ids.target, entry.target);
  }
  languages.removed.clear();
}

ShortlistSpec trimmed_shortlist(
    const NewIds& new_ids, const std::vector<uint32_t>& kept_source, const ShortlistSpec& whole) {
  ShortlistSpec shortlist;
  shortlist.always = kept_of(new_ids.target, whole.always);
  shortlist.offset = {0};
  for (const uint32_t id : kept_source) {
    const auto begin = whole.ids.begin();
    const std::vector<uint32_t> list = {
        begin + static_cast<ptrdiff_t>(whole.offset[id]), begin + static_cast<ptrdiff_t>(whole.offset[id + 1])};
    std::ranges::copy(kept_of(new_ids.target, list), std::back_inserter(shortlist.ids));
    shortlist.offset.push_back(shortlist.ids.size());
  }
  for (const NgramList& whole_list : whole.ngrams) {
    const NgramList list = {kept_of(new_ids.source, whole_list.ngram), kept_of(new_ids.target, whole_list.ids)};
    if (list.ngram.size() == whole_list.ngram.size()) shortlist.ngrams.push_back(list);
  }
  return shortlist;
}
}  // namespace

bool shares_vocabulary(const ModelSpec& spec) {
  return spec.encoder.embedding == spec.decoder.embedding || spec.encoder.embedding == spec.projection.weight;
}

KeptIds with_needed_ids(const ModelSpec& spec, KeptIds wanted) {
  Ids source(wanted.source.begin(), wanted.source.end()), target(wanted.target.begin(), wanted.target.end());
  add_needed(spec.source_tokenizer, source);
  add_needed(spec.target_tokenizer, target);
  for (const uint32_t id : spec.languages.removed) source.erase(id), target.erase(id);
  for (const Language& entry : spec.languages.entries) {
    const bool is_before = spec.languages.target_place == LanguagePlace::kBeforeText;
    if (entry.source) source.insert(*entry.source);
    if (entry.target) (is_before ? source : target).insert(*entry.target);
  }
  source.insert(spec.generation.source_prefix.begin(), spec.generation.source_prefix.end());
  source.insert(spec.generation.source_suffix.begin(), spec.generation.source_suffix.end());
  add_bounds_of_scores(spec.source_tokenizer, source);
  add_generation_ids(spec, target);
  if (shares_vocabulary(spec)) {
    source.merge(target);
    target = source;
  }
  return {{source.begin(), source.end()}, {target.begin(), target.end()}};
}

ModelSpec trim_vocabulary(const ModelSpec& spec, const KeptIds& kept) {
  const NewIds new_ids = {
      renumbered(kept.source, spec.encoder.embedding->rows), renumbered(kept.target, spec.decoder.embedding->rows)};
  if (spec.generation.sequences.no_repeat_source_ngram != 0 && !shares_vocabulary(spec))
    throw Error("the model must not repeat n-grams of its source, which needs equal ids on both sides: do not trim it");
  ModelSpec trimmed = spec;
  trim_tables(kept, trimmed);
  renumber_generation(new_ids, trimmed.generation);
  renumber_languages(new_ids, trimmed.languages);
  if (trimmed.source_tokenizer) trim_tokenizer(kept.source, *trimmed.source_tokenizer);
  if (trimmed.target_tokenizer) trim_tokenizer(kept.target, *trimmed.target_tokenizer);
  if (trimmed.shortlist) trimmed.shortlist = trimmed_shortlist(new_ids, kept.source, *spec.shortlist);
  return trimmed;
}
}  // namespace goldcrest::converter
