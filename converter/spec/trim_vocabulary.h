// SPDX-License-Identifier: Apache-2.0
// A model with fewer entries in its vocabularies. Rows that are kept stay as they are and in their order, so that their
// logits are the same to the bit, and ids are new wherever the model names one.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/spec.h"

namespace goldcrest::converter {

// Ids of a model, ascending and each once. Where both sides share a table, both lists are the same.
struct KeptIds {
  std::vector<uint32_t> source, target;
};

// Whether a table serves source and target, so that an id means the same on both sides.
bool shares_vocabulary(const ModelSpec& spec);

// `wanted`, in any order, and what the model cannot do without: ids that its generation names, ids that were added to
// the checkpoint's, its tokenizers' control, unknown, user-defined and byte pieces, language codes and the space, and
// of a unigram source tokenizer the pieces with the least and the largest score, which the scores of unknown text and
// of user-defined pieces follow from.
KeptIds with_needed_ids(const ModelSpec& spec, KeptIds wanted);

// The model with the entries of `kept`, which with_needed_ids gave. A text whose pieces are all kept is cut as before;
// any other one is cut into kept pieces.
ModelSpec trim_vocabulary(const ModelSpec& spec, const KeptIds& kept);

}  // namespace goldcrest::converter
