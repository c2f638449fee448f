// SPDX-License-Identifier: Apache-2.0
// The last step of every tokenizer: pieces to ids, with SentencePiece's treatment of what no piece covers.
#pragma once

#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {

// Pieces come in the text's order. Errors are GOLDCREST_ERROR_TOO_LONG when ids do not fit and
// GOLDCREST_ERROR_MODEL_CORRUPT for an id that is not below vocab_size; 0 otherwise.
class TokenWriter {
 public:
  TokenWriter(const TokenizerView& view, int32_t* ids, uint32_t max_ids) : view_(view), ids_(ids), max_ids_(max_ids) {}

  // One id: the entry's own, or unknown_id for one past the vocabulary.
  int put_entry(uint32_t entry);

  // Text that no piece covers: an id for each byte with byte_fallback, else it joins what was unknown just before it.
  // `piece` must stay readable and, within a run, each must follow the other in memory.
  int put_unknown(TextSpan piece);

  // Ends a run of unknowns: one id, that of the vocabulary's entry for the run's whole text (kSurface), else
  // unknown_id.
  int finish_run();

  uint32_t n_ids() const { return n_ids_; }

 private:
  int put_id(uint32_t id);

  const TokenizerView& view_;
  int32_t* ids_;
  uint32_t max_ids_;
  uint32_t n_ids_ = 0;
  TextSpan run_ = {nullptr, 0};
};

}  // namespace goldcrest
