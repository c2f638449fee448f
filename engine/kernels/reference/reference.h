// SPDX-License-Identifier: Apache-2.0
// The reference kernels, for tables whose slots are not worth writing, and for tails.
#pragma once

#include "kernels/kernels.h"

namespace goldcrest {

constexpr uint32_t kSmallestAmax = 0x2b800000u;  // bits of 2^-40
constexpr uint32_t kLargestAmax = 0x5b800000u;   // bits of 2^56: products of two scales and a dot product stay finite

// What follows the logits of an output block.
inline LogitSumsArgs logit_sums_of(const OutputBlockArgs& args) {
  return {args.linear.y, args.block_max,   args.block_sum, args.linear.y_stride,
          args.stride,   args.linear.rows, args.count};
}

void reference_quantize_rows(const QuantizeRowsArgs& args);
void reference_linear(const LinearArgs& args);
void reference_embed(const EmbedArgs& args);
void reference_layer_norm(const LayerNormArgs& args);
void reference_attention(const AttentionArgs& args);
void reference_output_block(const OutputBlockArgs& args);
uint32_t reference_next_above(const float* x, uint32_t begin, uint32_t end, float threshold);
void reference_logit_sums(const LogitSumsArgs& args);
float reference_sum_lanes(float lanes[16]);  // of 16 partial sums: 8 + 8, 4 + 4, 2 + 2, 1 + 1
// x [n] <- exp(x - largest); 1 / the sum of those. The heart of soft-max.
float reference_exponentials(float* x, uint32_t n, float largest);
// Element [row, column] of a matrix with k padded columns.
size_t weight_offset(Layout layout, uint32_t row, uint32_t column, uint32_t k);
float reference_activate(Activation activation, float x);
bool reference_weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);

extern const Kernels kernels_reference;

// The specification of float32 files: float32.cc, in builds with the option GOLDCREST_FLOAT32. Every table's float32
// equals it bit for bit.
#ifdef GOLDCREST_FLOAT32
extern const FloatKernels kernels_float32;
constexpr const FloatKernels* kReferenceFloatKernels = &kernels_float32;
#else
constexpr const FloatKernels* kReferenceFloatKernels = nullptr;
#endif

}  // namespace goldcrest
