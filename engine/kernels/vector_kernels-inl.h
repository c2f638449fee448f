// SPDX-License-Identifier: Apache-2.0
// The kernels once, over vectors of 16 lanes that the including file defines; each ISA's translation unit gets its own
// copy.
//
// Rows are padded to multiples of 16, so there are no tails. The including file defines before this one, in goldcrest's
// unnamed namespace:
//   V       16 floats: load, store, set, operators + - * /, negate (the sign bit), select(Mask, yes, no)
//   Mask    of 16 lanes: greater(a, b), not_less(a, b) (false for NaN), first_lanes(n), first_true(mask) (16: none)
//   V scale_by_power_of_two(V p, V n)   the bits of p plus int(n) << 23
//   V max_magnitude(V a, V x)           the larger of a and the sign-cleared bits of x, as integers
//   uint32_t largest_bits(V)            the largest lane, as an integer
//   V load_int8(const int8_t*), void store_int8(int8_t*, V)    16 int8 from and to integral floats in [-128, 127]
//   float sum_lanes(V)                  8 + 8, 4 + 4, 2 + 2, 1 + 1
//   float largest_lane(V)
//   Acc     16 int32: zero, accumulate(Acc, X, W), finish(Acc, weight_sum) -> V
//   X       4 activations for all lanes: broadcast(const int8_t*)
//   W       64 bytes of an N16K4 panel: load_panel(const int8_t*)
//   int32_t dot(const int8_t*, const int8_t*, n)               n % 16 == 0
#include "kernels/kernels.h"
#include "kernels/math.h"
#include "kernels/reference.h"
// In this order: each part uses those before it.
// clang-format off
#include "kernels/vector_math-inl.h"
#include "kernels/vector_rows-inl.h"
#include "kernels/vector_linear-inl.h"
#include "kernels/vector_attention-inl.h"
#include "kernels/vector_weights-inl.h"
// clang-format on
