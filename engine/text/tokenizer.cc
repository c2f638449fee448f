// SPDX-License-Identifier: Apache-2.0
// Reads a language code first, then runs the segmenter of the tokenizer's kind.
#include "base/exact_floats.h"

#include "text/tokenizer.h"

#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/status.h"
#include "text/bpe.h"
#include "text/languages.h"
#include "text/piece_lookup.h"
#include "text/unigram.h"
#include "text/words.h"

namespace goldcrest {
namespace {

constexpr uint32_t kNormalizedPerByte = 3;  // a space becomes U+2581, a bad byte U+FFFD
constexpr uint32_t kNormalizedFixed = 8;    // the dummy prefix, and room for a short text that grows

// Writes the id of a leading language code and removes the code from the text. Without a code it writes the caller's
// language, if set.
int write_language_code(const TokenizeArgs& args, TextSpan* text, TokenWriter* writer) {
  const TokenizerView& view = *args.view;
  const uint32_t n = language_code_bytes(*text);
  const uint32_t entry = find_piece(view, {text->bytes, n});
  if (entry == kNoEntry || entry >= view.vocab_size) {
    return args.language == nullptr ? GOLDCREST_OK : writer->put_entry(*args.language);
  }
  *text = text->from(n);
  return writer->put_entry(entry);
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

int write_ids(const TokenizeArgs& args, TextSpan text, TokenWriter* writer) {
  const TokenizerView& view = *args.view;
  if (view.language_codes) GOLDCREST_TRY(write_language_code(args, &text, writer));
  switch (view.kind) {
    case TokenizerKind::kUnigram:
      return tokenize_unigram(view, text, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kBpe:
      return tokenize_bpe(view, text, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kWord:
      return tokenize_words(view, text, writer);
    case TokenizerKind::kCharacter:
      return tokenize_characters(view, text, writer);
    case TokenizerKind::kSubword:
      if constexpr (kHasSubword) {
        return tokenize_bpe(view, without_ends(text), args.scratch, args.scratch_bytes, writer);
      }
      break;
  }
  return GOLDCREST_ERROR_UNSUPPORTED;
}

}  // namespace

int tokenize(const TokenizeArgs& args) {
  if (args.text_bytes > INT32_MAX) return GOLDCREST_ERROR_TOO_LONG;
  const TextSpan text = {reinterpret_cast<const uint8_t*>(args.text), static_cast<uint32_t>(args.text_bytes)};
  const uint32_t max_ids = args.max_ids > INT32_MAX ? INT32_MAX : static_cast<uint32_t>(args.max_ids);
  TokenWriter writer(*args.view, args.ids, max_ids);
  GOLDCREST_TRY(write_ids(args, text, &writer));
  return static_cast<int>(writer.n_ids());
}

ScratchSize tokenizer_scratch(TokenizerKind kind) {
  uint32_t fixed = 0, per_normalized_byte = 0;
  if (kind == TokenizerKind::kUnigram) {
    fixed = kUnigramScratchFixed;
    per_normalized_byte = kUnigramScratchPerByte;
  } else if (merges(kind)) {
    per_normalized_byte = kBpeScratchPerByte;
  }
  return {fixed + kNormalizedFixed * per_normalized_byte, kNormalizedPerByte * per_normalized_byte};
}

uint64_t tokenizer_steps(const TokenizerView& view, uint32_t max_source_bytes) {
  const uint64_t piece = smaller(view.max_piece_bytes, kMaxPieceBytes);
  const uint64_t rule = view.normalizer_trie_units > 0 ? 3 * kMaxRuleBytes : 0;  // found, measured, written
  const uint64_t at_place = rule + (view.has_user_defined ? piece : 0);
  const uint64_t comparisons = kBpeComparisons + (is_subword(view.kind) ? kSubwordComparisons : 0);
  const uint64_t at_normalized_byte =
      merges(view.kind) ? kBpePieceLookups * piece + comparisons : piece + kUnigramLookups;
  const uint64_t n_normalized = uint64_t{kNormalizedPerByte} * max_source_bytes + kNormalizedFixed;
  return (uint64_t{max_source_bytes} + 1) * at_place + n_normalized * at_normalized_byte;
}

}  // namespace goldcrest
