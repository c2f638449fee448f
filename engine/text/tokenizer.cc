// SPDX-License-Identifier: Apache-2.0
// Reads a language code first, then runs the segmenter of the tokenizer's kind.
#include "base/exact_floats.h"

#include "text/tokenizer.h"

#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/status.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/languages.h"
#include "text/piece_lookup.h"
#include "text/token_writer.h"
#include "text/unigram.h"
#include "text/words.h"

namespace goldcrest {
namespace {

constexpr uint32_t kNormalizedPerByte = 3;  // a space becomes U+2581, a bad byte U+FFFD
constexpr uint32_t kNormalizedFixed = 8;    // the dummy prefix, and room for a short text that grows

// Returns the entry of the language code that a text begins with; kNoEntry if there is none.
uint32_t find_language_code(const TokenizerView& view, TextSpan text) {
  if (!view.language_codes) return kNoEntry;
  const uint32_t entry = find_piece(view, {text.bytes, language_code_bytes(text)});
  return entry < view.vocab_size ? entry : kNoEntry;
}

// Builds without subwords lack this kind.
constexpr bool is_subword(TokenizerKind kind) { return kHasSubword && kind == TokenizerKind::kSubword; }
constexpr bool merges(TokenizerKind kind) { return kind == TokenizerKind::kBpe || is_subword(kind); }

// Returns a line's text without line ends and spaces around it, as subword-nmt reads it.
TextSpan without_ends(TextSpan line) {
  const auto is_end = [](uint8_t byte) { return byte == ' ' || byte == '\r' || byte == '\n'; };
  while (line.n > 0 && is_end(line.bytes[0])) line = line.from(1);
  while (line.n > 0 && is_end(line.bytes[line.n - 1])) --line.n;
  return line;
}

}  // namespace

int tokenize_part(const TokenizeArgs& args, TextSpan part, TokenWriter* writer) {
  const TokenizerView& view = *args.view;
  const uint32_t language = find_language_code(view, part);
  if (language != kNoEntry) {
    GOLDCREST_TRY(writer->put_entry(language));
    part = part.from(language_code_bytes(part));
  }
  switch (view.kind) {
    case TokenizerKind::kUnigram:
      return tokenize_unigram(view, part, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kBpe:
      return tokenize_bpe(view, part, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kWord:
      return tokenize_words(view, part, writer);
    case TokenizerKind::kCharacter:
      return tokenize_characters(view, part, writer);
    case TokenizerKind::kSubword:
      if constexpr (kHasSubword) {
        return tokenize_bpe(view, without_ends(part), args.scratch, args.scratch_bytes, writer);
      }
      break;
  }
  return GOLDCREST_ERROR_UNSUPPORTED;
}

int tokenize(const TokenizeArgs& args) {
  if (args.text_bytes > INT32_MAX) return GOLDCREST_ERROR_TOO_LONG;
  const TextSpan text = {reinterpret_cast<const uint8_t*>(args.text), static_cast<uint32_t>(args.text_bytes)};
  const uint32_t max_ids = args.max_ids > INT32_MAX ? INT32_MAX : static_cast<uint32_t>(args.max_ids);
  TokenWriter writer(*args.view, args.ids, max_ids);
  if (args.language != nullptr && args.view->language_codes && find_language_code(*args.view, text) == kNoEntry)
    GOLDCREST_TRY(writer.put_entry(*args.language));
  GOLDCREST_TRY(has_added_tokens(*args.view) ? tokenize_added(args, text, &writer)
                                             : tokenize_part(args, text, &writer));
  return static_cast<int>(writer.n_ids());
}

ScratchSize tokenizer_scratch(const TokenizerView& view) {
  uint32_t fixed = 0, per_normalized_byte = 0;
  if (view.kind == TokenizerKind::kUnigram) {
    fixed = kUnigramScratchFixed;
    per_normalized_byte = kUnigramScratchPerByte;
  } else if (merges(view.kind)) {
    per_normalized_byte = kBpeScratchPerByte;
  }
  ScratchSize size = {fixed + kNormalizedFixed * per_normalized_byte, kNormalizedPerByte * per_normalized_byte};
  if (has_added_tokens(view)) {
    const uint32_t n = has_flag(view, kAddedNormalized) ? 3 : 1;
    size.constant += n * kItemsFixed;
    size.per_byte += n * kItemsPerByte;
  }
  return size;
}

uint64_t tokenizer_steps(const TokenizerView& view, uint32_t max_source_bytes) {
  const uint64_t piece = smaller(view.max_piece_bytes, kMaxPieceBytes);
  const uint64_t rule = view.normalizer_trie_units > 0 ? 3 * kMaxRuleBytes : 0;  // found, measured, written
  const uint64_t at_place = rule + (view.has_user_defined ? piece : 0);
  const uint64_t comparisons = kBpeComparisons + (is_subword(view.kind) ? kSubwordComparisons : 0);
  const uint64_t at_normalized_byte =
      merges(view.kind) ? kBpePieceLookups * piece + comparisons : piece + kUnigramLookups;
  const uint64_t n_normalized = uint64_t{kNormalizedPerByte} * max_source_bytes + kNormalizedFixed;
  uint64_t steps = (uint64_t{max_source_bytes} + 1) * at_place + n_normalized * at_normalized_byte;
  if (has_added_tokens(view)) {
    const uint64_t token = 1 + view.added[kAddedFlags] % kAddedNormalized;
    steps += 2 * (max_source_bytes + n_normalized) * token;  // found, and looked up again
    steps += (max_source_bytes + n_normalized) * at_place;   // the text of each part, and its first place twice
  }
  return steps;
}

}  // namespace goldcrest
