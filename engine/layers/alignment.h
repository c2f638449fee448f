// SPDX-License-Identifier: Apache-2.0
// Alignments: how much the decoder attends to each source position. The queries of the layers in
// limits.alignment_layers are kept as their attention reads them, one for each target position and slot; the weights
// are computed from these and the source's keys when they are asked for, beside the kernels' attention, which they
// equal.
#pragma once

#include "base/build_options.h"
#include "layers/pass.h"

namespace goldcrest {

struct AlignmentRefs {
  // Like keys, [kept layer][head][(target position, slot)][d_head], with their scales.
  BufferRef queries, query_scales;
};

AlignmentRefs plan_alignment(Plan& plan, const StackView& stack);

// Decoder layer `layer` is one whose queries are kept.
inline bool keeps_alignment(const goldcrest_limits& limits, uint32_t layer) {
  return kHasInspection && layer < 32 && (limits.alignment_layers >> layer & 1) != 0;
}

// Queries of a layer that keeps them, in a cache without values. rows: positions times slots.
KvCache kept_queries(const Runtime& runtime, const AlignmentRefs& refs, uint32_t layer, size_t rows);

// Puts one row's query [n_heads * d_head] into a row of the cache.
void keep_query(const Pass& pass, const float* query, size_t row, const KvCache& queries);

// One query of a head, and the keys that it meets.
struct AlignedHead {
  const KvCache& queries;
  const KvCache& keys;
  uint32_t head;
  size_t query_row;
  Range key_rows;
};

// weights [key_rows.count] <- the soft-max of the query's scores.
void align_head(const Runtime& runtime, const AlignedHead& aligned, float* weights);

}  // namespace goldcrest
