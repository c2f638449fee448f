// SPDX-License-Identifier: Apache-2.0
// Splits text at white space or between characters. Every part becomes one id, known or not.
#include "base/exact_floats.h"
#include "text/words.h"
#include "base/status.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {
bool is_ascii_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

int write_whole(const TokenizerView& view, TextSpan piece, TokenWriter* writer) {
  const uint32_t entry = find_piece(view, piece);
  writer->set_text(piece);
  return writer->put_entry(entry == kNoEntry ? view.unknown_id : entry);
}
}  // namespace

int tokenize_words(const TokenizerView& view, TextSpan text, TokenWriter* writer) {
  while (text.n > 0) {
    uint32_t n = 0;
    while (n < text.n && !is_ascii_space(text.bytes[n])) ++n;
    if (n > 0) GOLDCREST_TRY(write_whole(view, {text.bytes, n}, writer));
    text = text.from(n < text.n ? n + 1 : n);
  }
  return GOLDCREST_OK;
}

int tokenize_characters(const TokenizerView& view, TextSpan text, TokenWriter* writer) {
  while (text.n > 0) {
    const uint32_t n = valid_char_bytes(text);
    const TextSpan replacement = {kReplacementSymbol, sizeof(kReplacementSymbol)};
    GOLDCREST_TRY(write_whole(view, n > 0 ? TextSpan{text.bytes, n} : replacement, writer));
    text = text.from(n > 0 ? n : 1);
  }
  return GOLDCREST_OK;
}
}  // namespace goldcrest
