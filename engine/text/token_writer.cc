// SPDX-License-Identifier: Apache-2.0
// Follows PopulateSentencePieceText of sentencepiece_processor.cc at v0.1.97. kSurface does the same as Hugging Face's
// MarianTokenizer, which looks pieces up in vocab.json.
#include "base/exact_floats.h"
#include "text/token_writer.h"
#include "base/status.h"
#include "text/piece_lookup.h"

namespace goldcrest {
void TokenWitness::see(uint32_t id, bool is_known) {
  const uint32_t kind = text_.n == 0 ? GOLDCREST_TOKEN_CONTROL
                        : is_known   ? GOLDCREST_TOKEN_NORMAL
                                     : GOLDCREST_TOKEN_UNKNOWN;
  const goldcrest_token token = {static_cast<int32_t>(id), kind, reinterpret_cast<const char*>(text_.bytes), text_.n};
  if (visit_ != nullptr) visit_(context_, &token);
  text_ = {nullptr, 0};
}

int TokenWriter::put_id(uint32_t id) {
  if (id >= view_.vocab_size) return GOLDCREST_ERROR_MODEL_CORRUPT;
  if (n_ids_ >= max_ids_) return GOLDCREST_ERROR_TOO_LONG;
  ids_[n_ids_++] = static_cast<int32_t>(id);
  see(id, id != view_.unknown_id);
  return GOLDCREST_OK;
}

int TokenWriter::put_entry(uint32_t entry) {
  GOLDCREST_TRY(finish_run());
  return put_id(entry < view_.vocab_size ? entry : view_.unknown_id);
}

int TokenWriter::put_unknown(TextSpan piece) {
  if (!view_.byte_fallback) {
    if (run_.n == 0) run_.bytes = piece.bytes;
    run_.n += piece.n;
    return GOLDCREST_OK;
  }
  for (uint32_t i = 0; i < piece.n; ++i) {
    set_text({piece.bytes + i, 1});
    GOLDCREST_TRY(put_id(view_.byte_ids[piece.bytes[i]]));
  }
  return GOLDCREST_OK;
}

int TokenWriter::finish_run() {
  if (run_.n == 0) return GOLDCREST_OK;
  const uint32_t entry = find_piece(view_, run_);
  const TextSpan next = set_text(run_);
  run_.n = 0;
  const bool surface = entry != kNoEntry && entry < view_.vocab_size && piece_type(view_, entry) == PieceType::kSurface;
  const int status = put_id(surface ? entry : view_.unknown_id);
  set_text(next);
  return status;
}
}  // namespace goldcrest
