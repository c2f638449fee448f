// SPDX-License-Identifier: Apache-2.0
// What a tutorial's code fixes: the names of its tensors, and settings that its checkpoints do not tell. Each is a
// dialect that reads as nn_transformer does, with these as defaults (TUTORIALS.md).
#pragma once

#include "dialects/config_family.h"
#include "dialects/nn_transformer/nn_transformer_names.h"
#include "dialects/tensor_reader.h"
#include "sources/sniffing/sniff_kinds.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

struct Tutorial {
  const char* model_type;
  KindId kind;                                  // by which its tensors are known
  const char* module;                           // before "encoder.": "transformer." or ""
  const char* settings;                         // JSON
  const char* tensors;                          // JSON: names by role
  const char* sinusoids;                        // a buffer whose rows are max_positions; null: positions are learned
  const char *start, *end, *padding, *unknown;  // its special tokens, for notes
  LayerNames names;
};

extern const Tutorial kAnnotatedTransformer, kSeq2SeqTransformer, kTrevettTransformer;
extern const ConfigFamily kAnnotatedFamily, kSeq2SeqFamily, kTrevettFamily;

// For --list.
inline constexpr const char* kTutorialsFrom =
    "safetensors (also sharded), `torch.save` state dict; [a short config.json](converter/dialects/TUTORIALS.md), for "
    "which `--print-config` makes the draft";

// The tutorial that a checkpoint is of by its sniffed kind; null: none.
const Tutorial* tutorial_of(KindId kind);

// The settings, as config.json has them.
Value tutorial_settings(const Tutorial& tutorial, const TensorReader& tensors);

}  // namespace goldcrest::converter
