// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "text/segment.h"
#include "base/status.h"
#include "text/bpe.h"
#include "text/languages.h"
#include "text/piece_lookup.h"
#include "text/unigram.h"
#include "text/words.h"

namespace goldcrest {
namespace {
// Returns a line's text without line ends and spaces around it, as subword-nmt reads it.
TextSpan without_ends(TextSpan line) {
  const auto is_end = [](uint8_t byte) { return byte == ' ' || byte == '\r' || byte == '\n'; };
  while (line.n > 0 && is_end(line.bytes[0])) line = line.from(1);
  while (line.n > 0 && is_end(line.bytes[line.n - 1])) --line.n;
  return line;
}
}  // namespace

uint32_t find_language_code(const TokenizerView& view, TextSpan text) {
  if (!view.language_codes) return kNoEntry;
  const uint32_t entry = find_piece(view, {text.bytes, language_code_bytes(text)});
  return entry < view.vocab_size ? entry : kNoEntry;
}

int tokenize_part(const TokenizeArgs& args, TextSpan part, TokenWriter* writer) {
  const TokenizerView& view = *args.view;
  const uint32_t language = find_language_code(view, part);
  if (language != kNoEntry) {
    GOLDCREST_TRY(writer->put_entry(language));
    part = part.from(language_code_bytes(part));
  }
  switch (view.kind) {
    case TokenizerKind::kUnigram: return tokenize_unigram(view, part, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kBpe: return tokenize_bpe(view, part, args.scratch, args.scratch_bytes, writer);
    case TokenizerKind::kWord: return tokenize_words(view, part, writer);
    case TokenizerKind::kCharacter: return tokenize_characters(view, part, writer);
    case TokenizerKind::kSubword:
      if (!is_subword(view.kind)) break;
      return tokenize_bpe(view, without_ends(part), args.scratch, args.scratch_bytes, writer);
  }
  return GOLDCREST_ERROR_UNSUPPORTED;
}
}  // namespace goldcrest
