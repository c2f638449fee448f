// SPDX-License-Identifier: Apache-2.0
// The buckets of distances that T5 has a bias for (Raffel et al. 2020, section 2.1;
// transformers/models/t5/modeling_t5.py at v5.23, _relative_position_bucket), in whole numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace goldcrest::converter {
struct DistanceBuckets {
  uint32_t n;             // both directions together
  uint32_t max_distance;  // from here on all distances have the last bucket
  bool both_directions;   // keys after the query have the second half of the buckets; else they have bucket 0

  // The number of buckets of one direction.
  uint32_t n_directed() const { return both_directions ? n / 2 : n; }
  // Distances below this one have a bucket each.
  uint32_t n_exact() const { return n_directed() / 2; }
};

constexpr uint32_t kMaxBuckets = 512;

// Returns the bucket of each distance of a key from its query, -before .. after. 1 <= n_exact < max_distance, n <=
// kMaxBuckets.
std::vector<uint32_t> distance_buckets(const DistanceBuckets& buckets, uint32_t before, uint32_t after);
}  // namespace goldcrest::converter
