// SPDX-License-Identifier: Apache-2.0
// Puts the caller's language before a text, and splits the text at added tokens, if the file has some.
#include "base/exact_floats.h"
#include "text/tokenizer.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/status.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/piece_lookup.h"
#include "text/unigram.h"

namespace goldcrest {
namespace {
constexpr uint32_t kNormalizedPerByte = 3;  // a space becomes U+2581, a bad byte U+FFFD
constexpr uint32_t kNormalizedFixed = 8;    // the dummy prefix, and room for a short text that grows

// Items follow the segmenter's scratch.
int split_at_added(const TokenizeArgs& args, TextSpan text, TokenWriter* writer) {
  const ScratchSize size = tokenizer_scratch(*args.view);
  if (args.scratch_bytes < size.constant) return GOLDCREST_ERROR_TOO_LONG;
  const auto most = static_cast<uint32_t>((args.scratch_bytes - size.constant) / size.per_byte);
  const auto split = kHasAddedWords ? tokenize_added_words : tokenize_added;
  return split(args, text, kItemsFixed + kItemsPerByte * most, writer);
}
}  // namespace

int tokenize(const TokenizeArgs& args) {
  if (args.text_bytes > INT32_MAX) return GOLDCREST_ERROR_TOO_LONG;
  const TextSpan text = {reinterpret_cast<const uint8_t*>(args.text), static_cast<uint32_t>(args.text_bytes)};
  const uint32_t max_ids = args.max_ids > INT32_MAX ? INT32_MAX : static_cast<uint32_t>(args.max_ids);
  TokenWriter writer(*args.view, args.ids, max_ids);
  writer.watch(args.visit, args.visit_context);
  if (args.language != nullptr && args.view->language_codes && find_language_code(*args.view, text) == kNoEntry)
    GOLDCREST_TRY(writer.put_entry(*args.language));
  const bool has_added = has_added_tokens(*args.view);
  GOLDCREST_TRY(has_added ? split_at_added(args, text, &writer) : tokenize_part(args, text, &writer));
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
