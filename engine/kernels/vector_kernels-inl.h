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

namespace goldcrest {
namespace {

inline V round_half_even(V x) { return (x + set(12582912.0f)) - set(12582912.0f); }

// The functions of math.h, operation for operation.
inline V exp_vector(V x) {
  const Mask counts = not_less(x, set(-40.0f));
  x = select(greater(x, set(88.0f)), set(88.0f), x);
  const V n = round_half_even(x * set(1.44269504f));
  const V r = (x - n * set(0.693359375f)) - n * set(-2.12194440e-4f);
  V p = set(1.98412698e-4f);
  p = p * r + set(1.38888889e-3f);
  p = p * r + set(8.33333333e-3f);
  p = p * r + set(4.16666667e-2f);
  p = p * r + set(1.66666667e-1f);
  p = p * r + set(0.5f);
  p = p * r + set(1.0f);
  p = p * r + set(1.0f);
  return select(counts, scale_by_power_of_two(p, n), set(0.0f));
}

inline V sigmoid_vector(V x) {
  const Mask negative = greater(set(0.0f), x);
  const V e = exp_vector(select(negative, x, negate(x)));
  const V inverse = set(1.0f) / (set(1.0f) + e);
  return select(negative, e * inverse, inverse);
}

inline V tanh_vector(V x) {
  const Mask negative = greater(set(0.0f), x);
  const V e = exp_vector(select(negative, set(2.0f) * x, set(-2.0f) * x));
  const V t = (set(1.0f) - e) / (set(1.0f) + e);
  return select(negative, negate(t), t);
}

inline V erf_vector(V x) {
  const Mask negative = greater(set(0.0f), x);
  const V a = select(negative, negate(x), x);
  const V t = set(1.0f) / (set(1.0f) + set(0.3275911f) * a);
  V p = set(1.061405429f);
  p = p * t + set(-1.453152027f);
  p = p * t + set(1.421413741f);
  p = p * t + set(-0.284496736f);
  p = p * t + set(0.254829592f);
  const V y = set(1.0f) - (p * t) * exp_vector(negate(a * a));
  return select(negative, negate(y), y);
}

inline V activate(Activation activation, V x) {
  switch (activation) {
    case Activation::kRelu:
      return select(greater(x, set(0.0f)), x, set(0.0f));
    case Activation::kGelu:
      return (set(0.5f) * x) * (set(1.0f) + erf_vector(x * set(0.707106781f)));
    case Activation::kGeluTanh:
      return (set(0.5f) * x) * (set(1.0f) + tanh_vector(set(0.797884561f) * (x + set(0.044715f) * (x * x) * x)));
    case Activation::kSilu:
      return x * sigmoid_vector(x);
    case Activation::kNone:
      break;
  }
  return x;
}

void quantize_rows(const QuantizeRowsArgs& args) {
  constexpr uint32_t kSmallestAmax = 0x2b800000u, kLargestAmax = 0x5b800000u;  // 2^-40, 2^56
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    int8_t* q = args.q + row * args.q_stride;
    V largest = set(0.0f);
    for (uint32_t i = 0; i < args.n; i += 16) largest = max_magnitude(largest, load(x + i));
    const uint32_t amax_bits = largest_bits(largest);
    if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
      memset(q, 0, args.n);
      args.scale[row * args.scale_stride] = 0.0f;
      continue;
    }
    // |x * inverse| <= 127 * (1 + 2^-23)^2, which rounds to 127 at most
    const float amax = bits_float(amax_bits);
    const V inverse = set(127.0f / amax);
    for (uint32_t i = 0; i < args.n; i += 16) store_int8(q + i, round_half_even(load(x + i) * inverse));
    args.scale[row * args.scale_stride] = amax / 127.0f;
  }
}

inline void write_outputs(const LinearArgs& args, uint32_t row, uint32_t output, V y) {
  y = activate(args.activation, y);
  const size_t at = row * args.y_stride + output;
  if (args.residual != nullptr) y = y + load(args.residual + at);
  store(args.y + at, y);
}

// Scales, bias, activation and residual for a tile's sums.
template <int kRows, int kPanels>
inline void finish_tile(const LinearArgs& args, uint32_t first_row, uint32_t first_output,
                        const Acc (&acc)[kRows][kPanels]) {
  for (int p = 0; p < kPanels; ++p) {
    const uint32_t output = first_output + 16 * static_cast<uint32_t>(p);
    const V w_scale = load(args.w_scale + output), bias = load(args.bias + output);
    for (int r = 0; r < kRows; ++r) {
      const uint32_t row = first_row + static_cast<uint32_t>(r);
      const V product = finish(acc[r][p], args.weight_sum + output);
      write_outputs(args, row, output, product * (set(args.x_scale[row]) * w_scale) + bias);
    }
  }
}

// Rows x panels of 16 outputs, all accumulators in registers.
template <int kRows, int kPanels>
inline void linear_tile(const LinearArgs& args, uint32_t first_row, uint32_t first_output) {
  const size_t panel_bytes = size_t{16} * args.k;
  const int8_t* x = args.x + size_t{first_row} * args.k;
  const int8_t* w = args.w + size_t{first_output} * args.k;
  Acc acc[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) acc[r][p] = zero();
  }
  for (uint32_t block = 0; block < args.k; block += 4, w += 64) {
    X inputs[kRows];
    for (int r = 0; r < kRows; ++r) inputs[r] = broadcast(x + static_cast<size_t>(r) * args.k + block);
    for (int p = 0; p < kPanels; ++p) {
      const W weights = load_panel(w + static_cast<size_t>(p) * panel_bytes);
      for (int r = 0; r < kRows; ++r) acc[r][p] = accumulate(acc[r][p], inputs[r], weights);
    }
  }
  finish_tile(args, first_row, first_output, acc);
}

// All panels for kRows rows, kPanels at a time.
template <int kRows, int kPanels>
inline void linear_rows(const LinearArgs& args, uint32_t first_row, uint32_t first_output, uint32_t end_output) {
  uint32_t output = first_output;
  for (; output + 16 * kPanels <= end_output; output += 16 * kPanels)
    linear_tile<kRows, kPanels>(args, first_row, output);
  for (; output < end_output; output += 16) linear_tile<kRows, 1>(args, first_row, output);
}

constexpr uint32_t kMostExactRows = 6;

inline void linear_exact_rows(const LinearArgs& args, uint32_t first_row, uint32_t rows, uint32_t first_output,
                              uint32_t end_output) {
  switch (rows) {
    case 1:
      return linear_rows<1, kPanelsFor1>(args, first_row, first_output, end_output);
    case 2:
      return linear_rows<2, kPanelsFor2>(args, first_row, first_output, end_output);
    case 3:
      return linear_rows<3, kPanelsFor3>(args, first_row, first_output, end_output);
    case 4:
      return linear_rows<4, kPanelsFor4>(args, first_row, first_output, end_output);
    case 5:
      return linear_rows<5, kPanelsFor5>(args, first_row, first_output, end_output);
    case 6:
      return linear_rows<6, kPanelsFor6>(args, first_row, first_output, end_output);
    default:
      break;
  }
}

void linear(const LinearArgs& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  if (args.rows <= kMostExactRows) return linear_exact_rows(args, 0, args.rows, 0, args.n);
  // Many rows: a group of panels stays in the first-level cache while the rows pass by.
  constexpr uint32_t kGroup = 16 * kPanelsForMany;
  for (uint32_t output = 0; output < args.n; output += kGroup) {
    const uint32_t end = output + kGroup < args.n ? output + kGroup : args.n;
    uint32_t row = 0;
    for (; row + kRowsForMany <= args.rows; row += kRowsForMany)
      linear_exact_rows(args, row, kRowsForMany, output, end);
    linear_exact_rows(args, row, args.rows - row, output, end);
  }
}

void layer_norm(const LayerNormArgs& args) {
  const float inverse_n = 1.0f / static_cast<float>(args.n);
  const uint32_t whole = args.n / 16 * 16, rest = args.n - whole;
  const Mask in_row = first_lanes(rest);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.stride;
    float* y = args.y + row * args.stride;
    V sum = set(0.0f);
    for (uint32_t i = 0; i < whole; i += 16) sum = sum + load(x + i);
    if (rest != 0) sum = select(in_row, sum + load(x + whole), sum);
    const V mean = set(sum_lanes(sum) * inverse_n);
    V squares = set(0.0f);
    for (uint32_t i = 0; i < whole; i += 16) {
      const V difference = load(x + i) - mean;
      squares = squares + difference * difference;
    }
    if (rest != 0) {
      const V difference = load(x + whole) - mean;
      squares = select(in_row, squares + difference * difference, squares);
    }
    const float variance = sum_lanes(squares) * inverse_n;
    const V inverse_deviation = set(1.0f / __builtin_sqrtf(variance + args.epsilon));
    const auto normalize = [&](uint32_t i) {
      return ((load(x + i) - mean) * inverse_deviation) * load(args.gamma + i) + load(args.beta + i);
    };
    for (uint32_t i = 0; i < whole; i += 16) store(y + i, normalize(i));
    if (rest != 0) store(y + whole, select(in_row, normalize(whole), set(0.0f)));
  }
}

// Scores of one head's query, then soft-max, times the value scales, in args.weights. n_keys is padded to 16 there.
inline void attention_weights(const AttentionArgs& args, uint32_t row, const int8_t* keys, const float* key_scales,
                              const float* value_scales, float q_scale) {
  const auto at = [&](uint32_t t) {
    return t * args.position_stride + (args.ancestor ? args.ancestor[t * args.ancestor_stride + row] : 0u);
  };
  const uint32_t n = args.n_keys, padded = (n + 15) / 16 * 16;
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < n; ++t) {
    const size_t key = at(t);
    const float product = static_cast<float>(dot(args.q_row, keys + key * args.d_head, args.d_head));
    const float score = (product * (q_scale * key_scales[key])) * args.scale;
    args.weights[t] = score;
    largest = score > largest ? score : largest;
  }
  for (uint32_t t = n; t < padded; ++t) args.weights[t] = -__builtin_huge_valf();  // e^-inf adds nothing
  V sum = set(0.0f);
  for (uint32_t t = 0; t < padded; t += 16) {
    const V e = exp_vector(load(args.weights + t) - set(largest));
    store(args.weights + t, e);
    sum = sum + e;
  }
  const float inverse = 1.0f / sum_lanes(sum);
  for (uint32_t t = 0; t < n; ++t) args.weights[t] = (args.weights[t] * inverse) * value_scales[at(t)];
}

// out[j] = sum over t of weights[t] * value[t, j], t ascending, kVectors * 16 columns at a time.
template <int kVectors>
inline void attention_values(const AttentionArgs& args, uint32_t row, const int8_t* values, uint32_t first,
                             float* out) {
  V sum[kVectors];
  for (int i = 0; i < kVectors; ++i) sum[i] = set(0.0f);
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = t * args.position_stride + (args.ancestor ? args.ancestor[t * args.ancestor_stride + row] : 0u);
    const int8_t* value = values + at * args.d_head + first;
    const V weight = set(args.weights[t]);
    for (int i = 0; i < kVectors; ++i) sum[i] = sum[i] + weight * load_int8(value + 16 * i);
  }
  for (int i = 0; i < kVectors; ++i) store(out + first + 16 * i, sum[i]);
}

void attention(const AttentionArgs& args) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t head_at = head * args.head_stride;
    const int8_t* keys = args.keys + head_at * args.d_head;
    const int8_t* values = args.values + head_at * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      float q_scale;
      quantize_rows({args.q + row * args.q_stride + size_t{head} * args.d_head, args.q_row, &q_scale, args.d_head,
                     args.d_head, 1, 1, args.d_head});
      attention_weights(args, row, keys, args.key_scales + head_at, args.value_scales + head_at, q_scale);
      float* out = args.out + row * args.out_stride + size_t{head} * args.d_head;
      uint32_t column = 0;
      for (; column + 64 <= args.d_head; column += 64) attention_values<4>(args, row, values, column, out);
      for (; column < args.d_head; column += 16) attention_values<1>(args, row, values, column, out);
    }
  }
}

// The largest logit of a block and the sum of exponentials, once the logits are there.
inline void output_block_sums(const OutputBlockArgs& args) {
  if (args.block_max == nullptr) return;
  const uint32_t whole = args.count / 16 * 16, rest = args.count - whole;
  const Mask counts = first_lanes(rest);
  for (uint32_t row = 0; row < args.linear.rows; ++row) {
    const float* logits = args.linear.y + row * args.linear.y_stride;
    V largest = set(logits[0]);
    for (uint32_t i = 0; i < whole; i += 16)
      largest = select(greater(load(logits + i), largest), load(logits + i), largest);
    if (rest != 0) {
      const V last = select(counts, load(logits + whole), set(logits[0]));
      largest = select(greater(last, largest), last, largest);
    }
    const V block_max = set(largest_lane(largest));
    V sum = set(0.0f);
    for (uint32_t i = 0; i < whole; i += 16) sum = sum + exp_vector(load(logits + i) - block_max);
    if (rest != 0) sum = select(counts, sum + exp_vector(load(logits + whole) - block_max), sum);
    args.block_max[row * args.stride] = largest_lane(largest);
    args.block_sum[row * args.stride] = sum_lanes(sum);
  }
}

inline void output_block(const OutputBlockArgs& args) {
  linear(args.linear);
  output_block_sums(args);
}

uint32_t next_above(const float* x, uint32_t begin, uint32_t end, float threshold) {
  const V limit = set(threshold);
  while (begin + 16 <= end) {
    const uint32_t lane = first_true(greater(load(x + begin), limit));
    if (lane < 16) return begin + lane;
    begin += 16;
  }
  return reference_next_above(x, begin, end, threshold);
}

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
