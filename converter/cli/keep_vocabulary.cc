// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include "cli/changes.h"
#include "evaluate/line_encoder.h"
#include "host/printable.h"
#include "host/wording.h"
#include "spec/error.h"
#include "spec/subword_entry.h"
#include "spec/trim_vocabulary.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMostPieces = 5;  // pieces in a message

// Finds one side's entries by their texts, and collects those to keep.
class Entries {
 public:
  explicit Entries(const TokenizerSpec& tokenizer) : tokenizer_(tokenizer) {
    for (uint32_t id = 0; id < tokenizer.vocab_size; ++id) ids_.emplace(tokenizer.pieces[id].text, id);
  }

  // Keeps the entry with this text; returns false if there is none.
  bool keep(std::string_view text) {
    const auto found = ids_.find(text);
    if (found == ids_.end() || text.empty()) return false;
    kept_.insert(found->second);
    return true;
  }
  void keep_all() {
    for (uint32_t id = 0; id < tokenizer_.vocab_size; ++id) kept_.insert(id);
  }
  void keep(const std::vector<int32_t>& ids) { kept_.insert(ids.begin(), ids.end()); }

  // Returns the kept entries and those of their single characters.
  std::vector<uint32_t> with_characters() {
    const std::set<uint32_t> pieces = kept_;
    const bool are_subwords = tokenizer_.kind == TokenizerKind::kSubword;
    for (const uint32_t id : pieces) {
      const std::string_view text = tokenizer_.pieces[id].text;
      std::string_view rest = are_subwords ? without_mark(text) : text;
      while (const size_t n = utf8_length(rest)) {
        const bool ends_word = n == rest.size() && !goes_on(text);
        keep(are_subwords && !ends_word ? std::string(rest.substr(0, n)).append(kSubwordMark) : rest.substr(0, n));
        rest.remove_prefix(n);
      }
    }
    return kept();
  }
  std::vector<uint32_t> kept() const { return {kept_.begin(), kept_.end()}; }
 private:
  const TokenizerSpec& tokenizer_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::set<uint32_t> kept_;
};

struct Sides {
  Entries source, target;
};

void keep_pieces(const LinesOf<NumberedLine>& pieces, Sides& sides) {
  std::vector<std::string> unknown;
  for (const auto& [number, piece] : pieces.lines) {
    const bool in_source = sides.source.keep(piece), in_target = sides.target.keep(piece);
    if (!in_source && !in_target) unknown.push_back(printable(piece));
  }
  if (unknown.empty()) return;
  throw Error("{}: {} of {} pieces are not entries of the model's vocabulary: {}", pieces.path, unknown.size(),
      pieces.lines.size(), list_in_quotes(unknown, kMostPieces));
}

// Keeps the entries of the lines' texts; for a line without target, those of the model's own translation.
void keep_text(const LinesOf<EvaluationLine>& text, InMemoryModel& whole, Sides& sides, ModelSpec& spec) {
  const LineEncoder encoder(spec, false);
  std::vector<EvaluationLine> without_target;
  for (const EvaluationLine& line : text.lines) {
    sides.source.keep(encoder.source(line.source));
    for (const std::string& target : line.references) sides.target.keep(encoder.target(target));
    if (line.references.empty()) without_target.push_back(line);
  }
  if (without_target.empty()) return;
  const std::vector<Translation> translations = whole.translate(without_target);
  for (const Translation& translation : translations) sides.target.keep(translation.tokens);
  const std::string failures = describe_failures(translations);
  if (!failures.empty()) spec.warnings.push_back(format_text("{}: {}", text.path, failures));
}

// Warns of removed entries that are the only cover of a character.
void warn_of_characters(const TokenizerSpec& before, const TokenizerSpec& after, ModelSpec& spec) {
  if (before.byte_fallback || before.kind == TokenizerKind::kWord) return;
  std::set<std::string_view> kept;
  for (const Piece& piece : after.pieces) kept.insert(piece.text);
  std::vector<std::string> lost;
  size_t characters = 0;
  for (uint32_t id = 0; id < before.vocab_size; ++id) {
    const Piece& piece = before.pieces[id];
    const std::string_view text =
        before.kind == TokenizerKind::kSubword ? without_mark(piece.text) : std::string_view(piece.text);
    if (piece.type != PieceType::kNormal || utf8_length(text) != text.size()) continue;
    ++characters;
    if (!kept.contains(piece.text)) lost.push_back(piece.text);
  }
  if (lost.empty()) return;
  spec.warnings.push_back(format_text("{} of the source's {} single characters are not kept; texts lose them: {}",
      lost.size(), characters, list_in_quotes(lost, kMostPieces)));
}

size_t count_unknown(const Segmenter& segmenter, uint32_t unknown_id, const std::vector<EvaluationLine>& lines) {
  size_t n = 0;
  for (const EvaluationLine& line : lines) {
    const std::vector<int32_t> ids = segmenter.encode(line.source);
    n += static_cast<size_t>(std::ranges::count(ids, static_cast<int32_t>(unknown_id)));
  }
  return n;
}

void warn_of_unknown(const LinesOf<EvaluationLine>& of, const TokenizerSpec& before, ModelSpec& spec) {
  const TokenizerSpec& after = *spec.source_tokenizer;
  const size_t was = count_unknown(Segmenter(before), before.unknown_id, of.lines),
               is = count_unknown(Segmenter(after), after.unknown_id, of.lines);
  if (is <= was) return;
  spec.warnings.push_back(format_text(
      "{}: {} tokens of its sources are unknown to the kept vocabulary, {} to the whole one", of.path, is, was));
}
}  // namespace

TrimmedVocabulary keep_vocabulary(InMemoryModel& whole, Job& job) {
  const UserLines& lines = job.lines;
  ModelSpec& spec = job.spec;
  Sides sides = {Entries(*spec.source_tokenizer), Entries(*spec.target_tokenizer)};
  const bool keeps_all = lines.kept_pieces.empty() && lines.kept_text.empty();  // but some languages
  if (keeps_all) sides.source.keep_all(), sides.target.keep_all();
  keep_pieces(lines.kept_pieces, sides);
  KeptIds wanted;
  if (lines.kept_text.empty()) {
    wanted = {sides.source.kept(), sides.target.kept()};
  } else {
    keep_text(lines.kept_text, whole, sides, spec);
    wanted = {sides.source.with_characters(), sides.target.with_characters()};
  }
  const KeptIds kept = with_needed_ids(spec, std::move(wanted));
  TrimmedVocabulary trimmed;
  trimmed.is_shared = shares_vocabulary(spec);
  trimmed.source_kept = static_cast<uint32_t>(kept.source.size());
  trimmed.source_all = spec.encoder.embedding->rows;
  trimmed.target_kept = static_cast<uint32_t>(kept.target.size());
  trimmed.target_all = spec.decoder.embedding->rows;
  if (trimmed.source_kept == trimmed.source_all && trimmed.target_kept == trimmed.target_all) {
    const std::string& path = lines.kept_pieces.empty() ? lines.kept_text.path : lines.kept_pieces.path;
    throw Error("{}: keeps every entry of the vocabulary; convert without it", keeps_all ? "--keep-languages" : path);
  }
  const TokenizerSpec before = *spec.source_tokenizer;
  spec = trim_vocabulary(spec, kept);
  warn_of_characters(before, *spec.source_tokenizer, spec);
  if (!lines.evaluation.empty()) warn_of_unknown(lines.evaluation, before, spec);
  return trimmed;
}
}  // namespace goldcrest::converter
