// SPDX-License-Identifier: Apache-2.0
// The check of weights that come from outside, on the vectors of vector_kernels-inl.h.

namespace goldcrest {
namespace {

// A plain loop: the compiler makes it a vector minimum.
inline bool none_is_minus_128(const int8_t* w, size_t n) {
  int8_t least = 0;
  for (size_t i = 0; i < n; ++i) least = w[i] < least ? w[i] : least;
  return least > -128;
}

// The row sums are those of a product with ones. A sum that is right is below 2^23, so its float is exact; where the
// instructions need the file's sum (finish), the result equals it only if it is right, since 129 is odd.
bool weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  if (weight_sum != nullptr && layout != Layout::kN16K4) return reference_weights_valid(w, weight_sum, n, k, layout);
  static constexpr int8_t kOnes[4] = {1, 1, 1, 1};
  static constexpr int32_t kLargestSum = 1 << 23;
  const X ones = broadcast(kOnes);
  for (uint32_t output = 0; output < n; output += 16) {
    const int8_t* panel = w + size_t{output} * k;
    if (!none_is_minus_128(panel, size_t{16} * k)) return false;
    if (weight_sum == nullptr) continue;
    Acc acc = zero();
    for (uint32_t block = 0; block < k; block += 4) acc = accumulate(acc, ones, load_panel(panel + size_t{16} * block));
    float sums[16];
    store(sums, finish(acc, weight_sum + output));
    for (uint32_t j = 0; j < 16; ++j) {
      const int32_t expected = weight_sum[output + j];
      if (expected < -kLargestSum || expected > kLargestSum || sums[j] != static_cast<float>(expected)) return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace goldcrest
