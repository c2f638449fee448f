// SPDX-License-Identifier: Apache-2.0
// The reference kernels, for slots that are not worth writing and for tails; and the table from which all others are
// made.
#pragma once

#include "base/crc32c.h"
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "model/packed.h"

namespace goldcrest {
constexpr uint32_t kSmallestAmax = 0x2b800000u;      // bits of 2^-40
constexpr uint32_t kSmallestFineAmax = 0x2f800000u;  // bits of 2^-32: scales of 16 bits are not below those of 8 bits
constexpr float kSmallestCell = 0x1p-60f;            // a recurrent block's: no product of it becomes a denormal
constexpr uint32_t kLargestAmax = 0x5b800000u;  // bits of 2^56: products of two scales and a dot product stay finite

// One head's keys and their scales, and its values' scales.
struct HeadKeys {
  const int8_t* keys;         // rows of [d_head]
  const float* key_scales;    // each row's
  const float* value_scales;  // likewise
  const float* bias;          // for row 0; null: none
};

// Returns the biases of row 0 of a head.
template <typename Element> static inline const float* head_bias(const AttentionArgs<Element>& args, uint32_t head) {
  return args.bias != nullptr ? args.bias + head * args.bias_stride : nullptr;
}

static inline HeadKeys head_keys(const AttentionArgs<int8_t>& args, uint32_t head) {
  const size_t head_at = head * args.head_stride;
  return {
      args.keys + head_at * args.d_head, args.key_scales + head_at, args.value_scales + head_at, head_bias(args, head)};
}

// Returns a row's biases of a head whose row 0 has `bias`; null: none.
template <typename Element>
static inline const float* row_bias(const AttentionArgs<Element>& args, const float* bias, uint32_t row) {
  return bias != nullptr ? bias + static_cast<ptrdiff_t>(row) * args.bias_step : nullptr;
}

// Returns score + bias[t], or the score of a row without biases.
static inline float with_bias(float score, const float* bias, uint32_t t) {
  return bias != nullptr ? score + bias[t] : score;
}

// Adds the biases of a row to its n scores, if there are any. Returns the largest score. A pass of its own, so that
// models without biases pay one test a row. head_bias: of the head's row 0.
template <typename Element>
static inline float add_row_bias(
    const AttentionArgs<Element>& args, const float* head_bias, uint32_t row, float largest) {
  if (head_bias == nullptr) return largest;
  const float* bias = head_bias + static_cast<ptrdiff_t>(row) * args.bias_step;
  float* const end = args.weights + args.n_keys;
  largest = -__builtin_huge_valf();
  for (float* score = args.weights; score < end; ++score, ++bias) {
    *score = *score + *bias;
    largest = *score > largest ? *score : largest;
  }
  return largest;
}

// The factors of a query with integer weights: q[t] = round_half_even(u[t] * to_integer), and outputs are sums times
// from_sum. Both are 0 if out is +0; some u then need not be numbers.
struct IntegerScales {
  float to_integer, from_sum;
};

// largest_bits: of the u. inverse: 1 / sum of e
static inline IntegerScales integer_scales(uint32_t largest_bits, float sum, float inverse) {
  if (largest_bits < float_bits(kSmallestScaled) || largest_bits > float_bits(kLargestScaled)) return {0.0f, 0.0f};
  const float by_largest = kLargestWeight / bits_float(largest_bits), by_sum = kLargestWeightSum / sum;
  const float to_integer = by_sum < by_largest ? by_sum : by_largest;
  return {to_integer, inverse / to_integer};
}

// Returns the row of the cache, counted from its head's first, that holds key t for a query row. All functions that
// kernels include are `static`, so a copy that is compiled for one ISA never leaks into another's file.
template <typename Element>
static inline size_t key_row(const AttentionArgs<Element>& args, uint32_t t, uint32_t query_row) {
  return t * args.position_stride + (args.ancestor ? args.ancestor[t * args.ancestor_stride + query_row] : 0u);
}

template <typename Element> static inline LogitSumsArgs logit_sums_of(const OutputBlockArgs<Element>& args) {
  return {
      args.linear.y, args.block_max, args.block_sum, args.linear.y_stride, args.stride, args.linear.rows, args.count};
}

void reference_quantize_rows(const QuantizeRowsArgs<int8_t>& args);
void reference_linear(const LinearArgs<int8_t>& args);
void reference_embed(const EmbedArgs<int8_t>& args);
void reference_layer_norm(const LayerNormArgs& args);
void reference_recurrence(const RecurrenceArgs& args);
void reference_attention(const AttentionArgs<int8_t>& args);
void reference_output_block(const OutputBlockArgs<int8_t>& args);
void reference_list_largest(const ListLargestArgs& args);
// Returns whether a list of the largest numbers has this number before the other.
static inline bool comes_before(float value, int32_t token, float other_value, int32_t other_token) {
  return value > other_value || (value == other_value && token < other_token);
}
// Inserts a number in order. A full list loses its last one.
void insert_number(const LargestNumbers& list, float value, int32_t token);
void reference_logit_sums(const LogitSumsArgs& args);
void reference_finish_fine(const LinearArgs<int8_t>& args, const float* p);
void reference_quantize_fine(const QuantizeRowsArgs<int8_t>& args);
void reference_fine_attention(const AttentionArgs<int8_t>& args);
// Returns the product of two rows of n elements of 16 bits, without their scales.
float reference_fine_product(const int8_t* a, const int8_t* b, uint32_t n);
[[gnu::noinline]] float reference_sum_lanes(float lanes[16]);  // adds 16 partial sums: 8 + 8, 4 + 4, 2 + 2, 1 + 1
// x [n] <- exp(x - largest), the core of soft-max. Returns 1 / the sum of x.
float reference_exponentials(float* x, uint32_t n, float largest);
// Turns a query's n_keys scores in args.weights into integers, which are the floats' bits, and returns their
// IntegerScales::from_sum.
float reference_integer_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float largest);
// Returns the index of element [row, column] of a matrix with k padded columns.
size_t weight_offset(Layout layout, uint32_t row, uint32_t column, uint32_t k);
float reference_activate(Activation activation, float x);
// exp_float and log_float (math.h). Not inlined, so that all but the kernels shares one copy.
[[gnu::noinline]] float exponential(float x);
[[gnu::noinline]] float logarithm(float x);
bool reference_weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout);

// Moves on by n outputs of a matrix, packed or not; n % 16 == 0.
void skip_any_outputs(LinearArgs<int8_t>& args, uint32_t n);
[[gnu::always_inline]] inline void skip_outputs(LinearArgs<int8_t>& args, uint32_t n) {
  if (kHasPacked) return skip_any_outputs(args, n);
  args.w += size_t{n} * args.k;
  args.w_scale += n;
  args.weight_sum += n;
}
static inline PackedMatrix packed_matrix(const LinearArgs<int8_t>& args) {
  return {reinterpret_cast<const uint8_t*>(args.w), args.multipliers, args.n, args.k, args.layout};
}
// Returns whether this build runs packed weights. Tests that are compiled without the build's options ask it.
bool runs_packed();
// Computes a product of packed weights: by the table's slot, else piece by piece by its int8 product.
void linear_packed(const Kernels& table, const LinearArgs<int8_t>& args);

// The specification of float32 files: float32.cc, in builds with the option GOLDCREST_FLOAT32. Every table's float32
// equals it bit for bit. Builds without the option call the first two for the voice detector.
void reference_quantize_floats(const QuantizeRowsArgs<float>& args);
void reference_linear_floats(const LinearArgs<float>& args);
extern const TypedKernels<float> kernels_reference_float32;

[[maybe_unused]] static constexpr Kernels make_reference_table() {
  Kernels table = {};
  table.name = "reference";
  table.int8 = {
      reference_quantize_rows, reference_linear, reference_embed, reference_attention, reference_output_block};
  table.float32 = &kernels_reference_float32;
  table.layer_norm = reference_layer_norm;
  table.logit_sums = reference_logit_sums;
  table.finish_fine = reference_finish_fine;
  table.quantize_fine = reference_quantize_fine;
  table.fine_attention = reference_fine_attention;
  table.recurrence = reference_recurrence;
  table.list_largest = reference_list_largest;
  table.crc32c = crc32c;
  table.weights_valid = reference_weights_valid;
  return table;
}

// The base of every table, which then sets its own slots by name.
constexpr Kernels kReferenceTable = make_reference_table();

extern const Kernels kernels_reference;
}  // namespace goldcrest
