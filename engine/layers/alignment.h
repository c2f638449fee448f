// SPDX-License-Identifier: Apache-2.0
// Alignments tell how much the decoder attends to each source position. The layers in limits.alignment_layers record
// their queries, one for each target position and slot, in the form that attention reads. When the caller asks for
// weights, align_head computes them from these queries and the source's keys. They equal those of the kernels'
// attention.
#pragma once

#include "base/build_options.h"
#include "layers/pass.h"

namespace goldcrest {
struct AlignmentRefs {
  // Stored like keys, [recorded layer][head][(target position, slot)][d_head], with their scales.
  BufferRef queries, query_scales;
};

AlignmentRefs plan_alignment(Plan& plan, const StackView& stack);

// Returns whether decoder layer `layer` records its queries.
inline bool records_queries(const goldcrest_limits& limits, uint32_t layer) {
  return kHasInspection && layer < 32 && (limits.alignment_layers >> layer & 1) != 0;
}

// Returns the recorded queries of a layer as a cache without values. rows: positions times slots.
KvCache recorded_queries(const Runtime& runtime, const AlignmentRefs& refs, uint32_t layer, size_t rows);

// Stores one row's query [n_heads * d_head] in a row of the cache.
void record_query(const Pass& pass, const float* query, size_t row, const KvCache& queries);

// One query of a head, and the keys that it attends to.
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
