// SPDX-License-Identifier: Apache-2.0
// Sums of products without dot product instructions: two products of int8 are added in 16 bits, which cannot overflow
// because both factors lie in [-127, 127], then pairwise into 32. On the vectors of arm/neon_vectors-inl.h.

namespace goldcrest {
namespace {

constexpr int kBlockInputs = 8;

// Two sums for each of 16 outputs.
struct Acc {
  int32x4_t q[8];
};

inline Acc add(Acc a, Acc b) {
  for (int i = 0; i < 8; ++i) a.q[i] = vaddq_s32(a.q[i], b.q[i]);
  return a;
}

}  // namespace
}  // namespace goldcrest
