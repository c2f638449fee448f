// SPDX-License-Identifier: Apache-2.0
// BART and its relatives: the families of transformers that share one graph and differ in a few choices.
#pragma once

#include "dialects/way_in.h"

namespace goldcrest::converter {
extern const ConfigFamily kBartFamily, kMBartFamily, kPegasusFamily, kM2mFamily, kBlenderbotFamily, kFsmtFamily;

// Speech models.
extern const ConfigFamily kMoonshineFamily, kWhisperFamily;

// Where a family's tokenizer comes from.
enum class FamilyText {
  kNone,     // byte-level BPE, or words that another program cuts: the file takes ids
  kPegasus,  // spiece.model, whose ids are shifted
  kMBart,    // sentencepiece.bpe.model, shifted by one, and languages after the pieces
  kM2m,      // the same for NLLB; M2M-100 has a vocab.json
};

struct TextSizes {
  FamilyText kind;
  uint32_t vocab_size;  // rows of the tables
  uint32_t end_id;
};

// Tokenizer, languages, and the ids around a source. Throws Error.
void read_family_text(const Checkpoint& checkpoint, const TextSizes& sizes, ModelSpec& spec);
}  // namespace goldcrest::converter
