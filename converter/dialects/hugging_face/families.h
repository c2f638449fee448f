// SPDX-License-Identifier: Apache-2.0
// BART and its relatives: the families of transformers that share one graph and differ in a few choices.
#pragma once

#include "dialects/way_in.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
extern const ConfigFamily kBartFamily, kMBartFamily, kPegasusFamily, kM2mFamily, kBlenderbotFamily, kFsmtFamily;

// Speech models.
extern const ConfigFamily kMoonshineFamily, kWhisperFamily;
// Images.
extern const ConfigFamily kVisionFamily;

// Reads tokenizer.json, or vocab.json with the special tokens in added_tokens.json. Throws Error without both.
Vocabulary read_byte_level_vocabulary(const Checkpoint& checkpoint, uint32_t n_ids, ModelSpec& spec);

// Where a family's tokenizer comes from.
enum class FamilyText {
  kNone,        // byte-level BPE, or words that another program cuts: the file takes ids
  kPegasus,     // spiece.model, whose ids are shifted
  kMBart,       // sentencepiece.bpe.model, shifted by one, and languages after the pieces
  kM2m,         // the same for NLLB; M2M-100 has a vocab.json
  kXlmRoberta,  // as mBART's, without languages, for results only
};

struct TextSizes {
  FamilyText kind;
  uint32_t vocab_size;  // rows of the tables
  uint32_t end_id;
};

// Tokenizer, languages, and the ids around a source. Throws Error.
void read_family_text(const Checkpoint& checkpoint, const TextSizes& sizes, ModelSpec& spec);
}  // namespace goldcrest::converter
