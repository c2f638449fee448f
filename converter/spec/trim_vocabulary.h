// SPDX-License-Identifier: Apache-2.0
// Removes entries of a model's vocabularies. The kept rows and their order do not change, so their logits are
// bit-identical. All ids in the model are renumbered.
#pragma once

#include <cstdint>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
// Ids of a model, ascending and without duplicates. If both sides share a table, the two lists are equal.
struct KeptIds {
  std::vector<uint32_t> source, target;
};

// True if one table serves source and target, so an id means the same on both sides.
bool shares_vocabulary(const ModelSpec& spec);

// Returns `wanted`, in any order, with all ids that the model needs. These are ids that its generation names, ids added
// to the checkpoint's, and entries of the tokenizers: control, unknown, user-defined and byte pieces, language codes
// and the space. The removed languages' ids do not stay. A unigram source tokenizer also needs its pieces with the
// least and the largest score. Unknown text and user-defined pieces get their scores from these.
KeptIds with_needed_ids(const ModelSpec& spec, KeptIds wanted);

// Returns the model with the entries of `kept`, a result of with_needed_ids. A text whose pieces are all kept is cut as
// before; any other text is cut into kept pieces.
ModelSpec trim_vocabulary(const ModelSpec& spec, const KeptIds& kept);
}  // namespace goldcrest::converter
