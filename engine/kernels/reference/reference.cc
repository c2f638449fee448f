// SPDX-License-Identifier: Apache-2.0
// The numeric specification. Each operation is rounded once; nothing is fused (-ffp-contract=off). Sums inside layer
// norm and soft-max are 16 strided partial sums and a fixed tree, so that 4-, 8- and 16-lane units reproduce them.
#include "base/exact_floats.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/math.h"

namespace goldcrest {
size_t weight_offset(Layout layout, uint32_t row, uint32_t column, uint32_t k) {
  switch (layout) {
    case Layout::kN16K4: return size_t{row / 16} * 16 * k + size_t{column / 4} * 64 + (row % 16) * 4 + column % 4;
    case Layout::kN4K16: return size_t{row / 4} * 4 * k + size_t{column / 16} * 64 + (row % 4) * 16 + column % 16;
    default: break;
  }
  return size_t{row} * k + column;
}

namespace {
int32_t dot(const int8_t* a, const int8_t* b, uint32_t n) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// acc[j] = sum over k of x[k] * w[first + j, k] for the outputs of one panel.
[[maybe_unused]] void panel_n16k4(const int8_t* x, const int8_t* panel, uint32_t k, int32_t acc[16]) {
  for (int j = 0; j < 16; ++j) acc[j] = 0;
  for (uint32_t block = 0; block < k; block += 4, panel += 64) {
    for (int j = 0; j < 16; ++j) {
      acc[j] += x[block] * panel[4 * j] + x[block + 1] * panel[4 * j + 1] + x[block + 2] * panel[4 * j + 2] +
                x[block + 3] * panel[4 * j + 3];
    }
  }
}

[[maybe_unused]] void panel_n4k16(const int8_t* x, const int8_t* panel, uint32_t k, int32_t acc[4]) {
  for (int j = 0; j < 4; ++j) acc[j] = 0;
  for (uint32_t block = 0; block < k; block += 16, panel += 64)
    for (int j = 0; j < 4; ++j) acc[j] += dot(x + block, panel + 16 * j, 16);
}

// Returns an output's sum of products with a row. Firmware has this in place of the panels, in less flash.
[[maybe_unused]] int32_t sum_of_output(const LinearArgs<int8_t>& args, const int8_t* x, uint32_t output) {
  const bool packed = args.is_packed();
  const uint32_t k = args.k, step = packed ? kPackedGroup : args.layout == Layout::kN16K4 ? 4 : 16;
  const int8_t* w = args.w + weight_offset(args.layout, output, 0, k);
  int8_t group[kPackedGroup];
  int32_t sum = 0;
  for (uint32_t input = 0; input < k; input += step, w += 64) {
    if (packed) unpack_group(packed_matrix(args), output, input / kPackedGroup, group);
    sum += dot(x + input, packed ? group : w, k - input < step ? 16 : step);
  }
  return sum;
}

// args.weights [n_keys] <- the scores of one head's query against every key, after soft-max, times the value scales.
// Returns the factor of integer weights. Not inlined: in two copies of the loop over values it takes more flash.
[[gnu::noinline]] float attention_weights(
    const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float q_scale) {
  const float* const bias = row_bias(args, head.bias, row);
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = key_row(args, t, row);
    const float product = static_cast<float>(dot(args.q_row, head.keys + at * args.d_head, args.d_head));
    const float score = with_bias((product * (q_scale * head.key_scales[at])) * args.scale, bias, t);
    args.weights[t] = score;
    if (score > largest) largest = score;
  }
  if (args.has_integers()) return reference_integer_weights(args, row, head, largest);
  const float inverse = reference_exponentials(args.weights, args.n_keys, largest);
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const size_t at = key_row(args, t, row);
    args.weights[t] = (args.weights[t] * inverse) * head.value_scales[at];
  }
  return 1.0f;
}
}  // namespace

float reference_sum_lanes(float lanes[16]) {
  for (int width = 8; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

float reference_exponentials(float* x, uint32_t n, float largest) {
  float lanes[16] = {};
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = exp_float(x[i] - largest);
    lanes[i % 16] += x[i];
  }
  return 1.0f / reference_sum_lanes(lanes);
}

float reference_integer_weights(const AttentionArgs<int8_t>& args, uint32_t row, const HeadKeys& head, float largest) {
  float sums[32] = {};  // 16 of e, then 16 of u
  uint32_t largest_bits = 0, t = 0;
  do {
    const float e = short_exp_float(args.weights[t] - largest);
    const float scaled = e * __builtin_fabsf(head.value_scales[key_row(args, t, row)]);
    sums[t % 16] += e;
    sums[t % 16 + 16] += scaled;
    const uint32_t bits = float_bits(scaled) & 0x7fffffffu;  // NaN has the largest bits
    largest_bits = bits > largest_bits ? bits : largest_bits;
    args.weights[t] = scaled;
  } while (++t < args.n_keys);
  const float inverse = 1.0f / reference_sum_lanes(sums);
  const IntegerScales scales = integer_scales(largest_bits, reference_sum_lanes(sums + 16), inverse);
  do {
    const float shifted = args.weights[--t] * scales.to_integer + 12582912.0f;  // 1.5 * 2^23: its last bits are q
    args.weights[t] = bits_float(scales.to_integer > 0.0f ? float_bits(shifted) - 0x4b400000u : 0u);
  } while (t > 0);
  return scales.from_sum;
}

float exponential(float x) { return exp_float(x); }

float logarithm(float x) { return log_float(x); }

float reference_activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kRelu: return x > 0.0f ? x : 0.0f;
    case Activation::kGelu: return (0.5f * x) * (1.0f + erf_float(x * 0.707106781f));
    case Activation::kSilu: return x * sigmoid_float(x);
    case Activation::kGeluTanh:
    case Activation::kTanh: {
      const bool is_tanh = activation == Activation::kTanh;
      const float t = tanh_float(is_tanh ? x : 0.797884561f * (x + 0.044715f * (x * x) * x));
      return is_tanh ? t : (0.5f * x) * (1.0f + t);
    }
    case Activation::kNone: break;
  }
  return x;
}

void reference_quantize_rows(const QuantizeRowsArgs<int8_t>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    int8_t* q = args.q + row * args.q_stride;
    uint32_t amax_bits = 0;
    for (uint32_t i = 0; i < args.n; ++i) {
      const uint32_t magnitude = float_bits(x[i]) & 0x7fffffffu;
      if (magnitude > amax_bits) amax_bits = magnitude;
    }
    if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
      for (uint32_t i = 0; i < args.n; ++i) q[i] = 0;
      args.scale[row * args.scale_stride] = 0.0f;
      continue;
    }
    const float amax = bits_float(amax_bits);
    const float inverse = 127.0f / amax;
    for (uint32_t i = 0; i < args.n; ++i) {
      const float rounded = round_half_even(x[i] * inverse);
      q[i] = static_cast<int8_t>(rounded > 127.0f ? 127.0f : rounded < -127.0f ? -127.0f : rounded);
    }
    args.scale[row * args.scale_stride] = amax / 127.0f;
  }
}

void reference_linear(const LinearArgs<int8_t>& args) {
  const uint32_t panel_outputs = args.layout == Layout::kN16K4 ? 16 : 4;
  int32_t acc[16];
  for (uint32_t first = 0; first < args.n; first += panel_outputs) {
    const int8_t* panel = args.w + size_t{first} * args.k;
    for (uint32_t row = 0; row < args.rows; ++row) {
      const int8_t* x = args.x + size_t{row} * args.k;
      if constexpr (!kHasSystem)
        for (uint32_t j = 0; j < panel_outputs; ++j) acc[j] = sum_of_output(args, x, first + j);
      else if (args.layout == Layout::kN16K4) panel_n16k4(x, panel, args.k, acc);
      else panel_n4k16(x, panel, args.k, acc);
      for (uint32_t j = 0; j < panel_outputs; ++j) {
        const uint32_t output = first + j;
        float y = static_cast<float>(acc[j]) * (args.x_scale[row] * args.w_scale[output]) + args.bias[output];
        y = reference_activate(args.activation, y);
        const size_t at = row * args.y_stride + output;
        args.y[at] = args.residual ? y + args.residual[at] : y;
      }
    }
  }
}

void reference_embed(const EmbedArgs<int8_t>& args) {
  const float scale = args.w_scale[args.token] * args.embedding_scale;
  // A row has `together` columns next to each other; its next columns start 64 bytes after these.
  const uint32_t n = args.n, together = args.layout == Layout::kN16K4 ? 4 : 16;
  const size_t step = args.layout == Layout::kRowMajor ? together : 64;
  const int8_t* w = args.w + weight_offset(args.layout, args.token, 0, n);
  const float* position = args.position;
  float* y = args.y;
  for (uint32_t first = 0; first < n; first += together, w += step)
    for (uint32_t j = 0; j < together; ++j) *y++ = static_cast<float>(w[j]) * scale + *position++;
}

void reference_layer_norm(const LayerNormArgs& args) {
  const float inverse_n = 1.0f / static_cast<float>(args.n);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.stride;
    float* y = args.y + row * args.stride;
    float lanes[16] = {};
    for (uint32_t i = 0; args.centred && i < args.n; ++i) lanes[i % 16] += x[i];
    const float mean = args.centred ? reference_sum_lanes(lanes) * inverse_n : 0.0f;
    float squares[16] = {};
    for (uint32_t i = 0; i < args.n; ++i) {
      const float difference = x[i] - mean;
      squares[i % 16] += difference * difference;
    }
    const float variance = reference_sum_lanes(squares) * inverse_n;
    const float inverse_deviation = 1.0f / sqrt_float(variance + args.epsilon);
    for (uint32_t i = 0; i < args.n; ++i) y[i] = ((x[i] - mean) * inverse_deviation) * args.gamma[i] + args.beta[i];
    for (uint32_t i = args.n; i < args.n_padded; ++i) y[i] = 0.0f;
  }
}

void reference_recurrence(const RecurrenceArgs& args) {
  for (uint32_t i = 0; i < args.n; ++i) {
    const float f = sigmoid_float(args.forget[i]);
    const float cell = f * (args.past != nullptr ? args.past[i] : 0.0f) + (1.0f - f) * args.input[i];
    const float magnitude = cell < 0.0f ? -cell : cell;
    args.cell[i] = magnitude >= kSmallestCell ? cell : 0.0f;
    args.y[i] = args.y[i] + (args.cell[i] > 0.0f ? args.cell[i] : 0.0f);
  }
}

void reference_attention(const AttentionArgs<int8_t>& args) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t head_at = head * args.head_stride;
    const HeadKeys keys = head_keys(args, head);
    const int8_t* values = args.values + head_at * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      float q_scale;
      reference_quantize_rows({args.q + row * args.q_stride + size_t{head} * args.d_head, args.q_row, &q_scale,
          args.d_head, args.d_head, 1, 1, args.d_head});
      const float factor = attention_weights(args, row, keys, q_scale);
      float* out = args.out + row * args.out_stride + size_t{head} * args.d_head;
      for (uint32_t j = 0; j < args.d_head; ++j) out[j] = 0.0f;
      for (uint32_t t = 0; t < args.n_keys; ++t) {
        const int8_t* value = values + key_row(args, t, row) * args.d_head;
        const float weight = args.weights[t];
        for (uint32_t j = 0; j < args.d_head; ++j)  // the bits of an integer sum, or a float
          out[j] = args.has_integers()
                       ? bits_float(float_bits(out[j]) + float_bits(weight) * static_cast<uint32_t>(int32_t{value[j]}))
                       : out[j] + weight * static_cast<float>(value[j]);
      }
      if (!args.has_integers()) continue;
      for (uint32_t j = 0; j < args.d_head; ++j)
        out[j] = static_cast<float>(static_cast<int32_t>(float_bits(out[j]))) * factor;
    }
  }
}

void reference_logit_sums(const LogitSumsArgs& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* logits = args.logits + row * args.logits_stride;
    float largest = logits[0];
    for (uint32_t i = 1; i < args.count; ++i) largest = logits[i] > largest ? logits[i] : largest;
    float lanes[16] = {};
    for (uint32_t i = 0; i < args.count; ++i) lanes[i % 16] += exp_float(logits[i] - largest);
    args.block_max[row * args.stride] = largest;
    args.block_sum[row * args.stride] = reference_sum_lanes(lanes);
  }
}

void reference_finish_fine(const LinearArgs<int8_t>& args, const float* p) {
  const size_t size = size_t{args.rows} * args.n;
  for (uint32_t row = 0; row < args.rows; ++row) {
    for (uint32_t j = 0; j < args.n; ++j, ++p) {
      const size_t at = row * args.y_stride + j;
      const float y = reference_activate(args.activation, (*p + args.bias[j]) + p[size]);
      args.y[at] = args.residual != nullptr ? y + args.residual[at] : y;
    }
  }
}

void reference_output_block(const OutputBlockArgs<int8_t>& args) {
  reference_linear(args.linear);
  if (args.block_max != nullptr) reference_logit_sums(logit_sums_of(args));
}

void insert_number(const LargestNumbers& list, float value, int32_t token) {
  const uint32_t last = *list.count < list.capacity ? (*list.count)++ : list.capacity - 1;
  float* value_at = list.values + last;
  int32_t* token_at = list.tokens + last;
  for (; value_at != list.values && comes_before(value, token, value_at[-1], token_at[-1]); --value_at, --token_at) {
    *value_at = value_at[-1];
    *token_at = token_at[-1];
  }
  *value_at = value;
  *token_at = token;
}

void reference_list_largest(const ListLargestArgs& args) {
  for (uint32_t i = 0; i < args.n; ++i)
    if (args.x[i] > args.list.bound()) insert_number(args.list, args.x[i], args.token(i));
}

bool reference_weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  for (uint32_t row = 0; row < n; ++row) {
    int32_t sum = 0;
    bool in_range = true;
    for (uint32_t column = 0; column < k; ++column) {
      const int8_t value = w[weight_offset(layout, row, column, k)];
      in_range &= value != -128;
      sum += value;
    }
    if (!in_range || (weight_sum != nullptr && sum != weight_sum[row])) return false;
  }
  return true;
}

constexpr Kernels kernels_reference = for_this_build(kReferenceTable);
}  // namespace goldcrest
