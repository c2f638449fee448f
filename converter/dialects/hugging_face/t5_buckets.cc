// SPDX-License-Identifier: Apache-2.0
// A distance a >= e, with e exact buckets of n, has the bucket min(n - 1, e + k): k is the largest number with
// log(a / e) / log(max / e) * (n - e) >= k, which is a^(n - e) * e^k >= max^k * e^(n - e).
#include "dialects/hugging_face/t5_buckets.h"
#include <algorithm>

namespace goldcrest::converter {
namespace {
// A natural number in digits of 32 bits, the lowest first, without zeros at the end.
using Natural = std::vector<uint32_t>;

void multiply(Natural& number, uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& digit : number) {
    carry += uint64_t{digit} * factor;
    digit = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) number.push_back(static_cast<uint32_t>(carry));
}

// a^i * b^j; a and b are not 0.
Natural product_of_powers(uint32_t a, uint32_t i, uint32_t b, uint32_t j) {
  Natural product = {1};
  for (; i > 0; --i) multiply(product, a);
  for (; j > 0; --j) multiply(product, b);
  return product;
}

bool is_less(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// Returns the first distance of each bucket of one direction.
std::vector<uint32_t> first_distances(const DistanceBuckets& buckets) {
  const uint32_t exact = buckets.n_exact(), wide = buckets.n_directed() - exact;
  std::vector<uint32_t> firsts;
  for (uint32_t i = 0; i <= exact; ++i) firsts.push_back(i);
  for (uint32_t k = 1; k < wide; ++k) {
    const Natural bound = product_of_powers(buckets.max_distance, k, exact, wide);
    uint32_t low = firsts.back(), high = buckets.max_distance;  // the first one is in [low, high]
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (is_less(product_of_powers(middle, wide, exact, k), bound)) low = middle + 1;
      else high = middle;
    }
    firsts.push_back(low);
  }
  return firsts;
}
}  // namespace

std::vector<uint32_t> distance_buckets(const DistanceBuckets& buckets, uint32_t before, uint32_t after) {
  const std::vector<uint32_t> firsts = first_distances(buckets);
  const auto bucket_of = [&](uint32_t distance) {
    return static_cast<uint32_t>(std::upper_bound(firsts.begin(), firsts.end(), distance) - firsts.begin() - 1);
  };
  std::vector<uint32_t> all;
  for (uint32_t distance = before; distance > 0; --distance) all.push_back(bucket_of(distance));
  all.push_back(0);
  for (uint32_t distance = 1; distance <= after; ++distance)
    all.push_back(buckets.both_directions ? buckets.n_directed() + bucket_of(distance) : 0);
  return all;
}
}  // namespace goldcrest::converter
