// SPDX-License-Identifier: Apache-2.0
// The last step of every tokenizer: turns pieces into ids, and treats text that no piece covers as SentencePiece does.
#pragma once

#include "base/build_options.h"
#include "base/types.h"
#include "goldcrest/tokens.h"
#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {
// Shows tokens to a program, with the text that set_text has given for the next one.
class TokenWitness {
 public:
  void watch(goldcrest_token_function visit, void* context) {
    visit_ = visit;
    context_ = context;
  }
  // Sets the text of the next token. Returns what it was.
  TextSpan set_text(TextSpan text) {
    const TextSpan before = text_;
    text_ = text;
    return before;
  }
  void see(uint32_t id, bool is_known);
 private:
  goldcrest_token_function visit_ = nullptr;
  void* context_ = nullptr;
  TextSpan text_ = {nullptr, 0};
};
struct NoWitness {
  static void watch(goldcrest_token_function, void*) {}
  static TextSpan set_text(TextSpan text) { return text; }
  static void see(uint32_t, bool) {}
};

// Pieces must come in the text's order. The functions return 0, GOLDCREST_ERROR_TOO_LONG if the ids do not fit, or
// GOLDCREST_ERROR_MODEL_CORRUPT for an id that is not below vocab_size.
class TokenWriter : public Choose<kHasInspection, TokenWitness, NoWitness> {
 public:
  TokenWriter(const TokenizerView& view, int32_t* ids, uint32_t max_ids) : view_(view), ids_(ids), max_ids_(max_ids) {}

  // Writes one id: the entry itself, or unknown_id if the entry is not below vocab_size.
  int put_entry(uint32_t entry);

  // Takes text that no piece covers. With byte_fallback it writes an id for each byte; else the text joins the run of
  // unknowns just before it. `piece` must stay readable, and the pieces of a run must follow each other in memory.
  int put_unknown(TextSpan piece);

  // Ends a run of unknowns with one id: with kSurface the entry of the run's whole text if there is one, else
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
