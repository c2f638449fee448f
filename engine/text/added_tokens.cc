// SPDX-License-Identifier: Apache-2.0
// Splits a text at added tokens: in the text, then in the normalized text of each part between.
#include "base/exact_floats.h"
#include "text/added_tokens.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/status.h"
#include "text/double_array.h"
#include "text/normalizer.h"
#include "text/piece_lookup.h"

namespace goldcrest {
// Returns the bytes of the longest token at the text's start; 0 if there is none. *value <- its value.
uint32_t longest_added_token(const TokenizerView& view, AddedPlace place, TextSpan text, uint32_t* value) {
  const uint32_t n_runs = kHasAddedWords ? view.added[kAddedSpaces] + view.added[kAddedLetters] : 0;
  const uint32_t n_before = kAddedHeader + n_runs;
  const DoubleArray trie = {view.added + n_before, view.n_added - n_before};
  const uint32_t most = smaller(view.added[kAddedFlags] % kAddedNormalized, text.n);
  uint32_t node = 0, longest = 0;
  bool goes_on = step_trie(trie, static_cast<uint8_t>(place), &node);
  for (uint32_t i = 0; i < most && goes_on; ++i) {
    goes_on = step_trie(trie, text.bytes[i], &node);
    if (goes_on && view_trie_value(trie, node, value)) longest = i + 1;
  }
  return longest;
}

int tokenize_between(const TokenizeArgs& args, TextSpan part, TokenWriter* writer) {
  if (part.n == 0) return GOLDCREST_OK;
  GOLDCREST_TRY(tokenize_part(args, part, writer));
  if (!has_flag(*args.view, kAddedKeepSpace) || part.bytes[part.n - 1] != ' ') return GOLDCREST_OK;
  return writer->put_entry(find_piece(*args.view, {kSpaceSymbol, sizeof kSpaceSymbol}));
}

int tokenize_added(const TokenizeArgs& args, TextSpan text, uint32_t capacity, TokenWriter* writer) {
  TokenizerView view = *args.view;
  TokenizeArgs part_args = args;
  part_args.view = &view;
  uint8_t* const normalized = static_cast<uint8_t*>(args.scratch) + args.scratch_bytes - capacity;
  const bool has_normalized = has_flag(view, kAddedNormalized);
  if (has_normalized) view.normalizer_trie_units = 0;
  part_args.scratch_bytes -= capacity;
  TextSpan behind = {nullptr, 0};  // a part that is normalized now, with the token at its end
  AddedPlace place = AddedPlace::kInText;
  for (;;) {
    TextSpan part = {text.bytes, 0};
    uint32_t value = 0, n = 0;
    while (part.n < text.n && (n = longest_added_token(view, place, text.from(part.n), &value)) == 0) ++part.n;
    if (place == AddedPlace::kInText && has_normalized) {
      behind = text.from(part.n);
      const int n_normalized = rewrite(*args.view, part, normalized, capacity);
      GOLDCREST_TRY(n_normalized);
      text = {normalized, static_cast<uint32_t>(n_normalized)};
      place = AddedPlace::kInNormalized;
      continue;
    }
    GOLDCREST_TRY(tokenize_between(part_args, part, writer));
    if (n == 0 && place == AddedPlace::kInNormalized) {  // the part's end
      place = AddedPlace::kInText;
      text = behind;
      part.n = 0;
      n = longest_added_token(view, place, text, &value);
    }
    if (n == 0) return GOLDCREST_OK;
    writer->set_text({text.bytes + part.n, n});
    GOLDCREST_TRY(writer->put_entry(value & kAddedIdMask));
    text = text.from(part.n + n);
  }
}
}  // namespace goldcrest
