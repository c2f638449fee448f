// SPDX-License-Identifier: Apache-2.0
// Tutorials whose code fixes the names of tensors, and settings that their checkpoints do not contain. Each is a
// dialect that loads as nn_transformer does, with these as defaults (TUTORIALS.md).
#pragma once

#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/sniffing/sniff_kinds.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
struct Tutorial {
  const char* model_type;
  KindId kind;                                  // identifies its tensors
  const char* module;                           // prefix of "encoder.": "transformer." or ""
  const char* settings;                         // JSON
  const char* tensors;                          // JSON: names by role
  const char* sinusoids;                        // a buffer with max_positions rows; null: positions are learned
  const char *start, *end, *padding, *unknown;  // its special tokens, for notes
  LayerNames names;
};

extern const Tutorial kAnnotatedTransformer, kSeq2SeqTransformer, kTrevettTransformer;
extern const ConfigFamily kAnnotatedFamily, kSeq2SeqFamily, kTrevettFamily;

// For --list.
inline constexpr const char* kTutorialsFrom =
    "safetensors (also sharded), `torch.save` state dict; [a short config.json](converter/dialects/TUTORIALS.md), "
    "which `--print-config` drafts";

// Returns the tutorial of a checkpoint by its sniffed kind; null: none.
const Tutorial* tutorial_of(KindId kind);

// Returns the settings in the form of a config.json.
Value tutorial_settings(const Tutorial& tutorial, const TensorReader& tensors);
}  // namespace goldcrest::converter
