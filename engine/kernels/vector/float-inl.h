// SPDX-License-Identifier: Apache-2.0
// The kernels for float32 files, on the vectors of vector/kernels-inl.h; only in builds with GOLDCREST_FLOAT32.

namespace goldcrest { namespace {
void quantize_rows(const QuantizeRowsArgs<float>& args) {
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* q = args.q + row * args.q_stride;
    V largest = set(0.0f);
    for (uint32_t i = 0; i < args.n; i += 16) largest = max_magnitude(largest, load(x + i));
    const uint32_t amax_bits = largest_bits(largest);
    const bool counts = amax_bits >= kSmallestAmax && amax_bits <= kLargestAmax;
    for (uint32_t i = 0; i < args.n; i += 16) {
      const V v = load(x + i), magnitude = select(greater(set(0.0f), v), negate(v), v);
      store(q + i, counts ? select(not_less(magnitude, set(0x1p-60f)), v, set(0.0f)) : set(0.0f));
    }
  }
}

// products[r][first + j] = sum over k of x[r, k] * w[j, k].
template <int kRows, int kOutputs>
inline void multiply_floats(const float* x, const float* w, size_t k, uint32_t first, float (*products)[16]) {
  V sums[kRows][kOutputs] = {};
  for (size_t i = 0; i < k; i += 16) {
    unrolled<kRows>([&](int r) {
      const V inputs = load(x + static_cast<size_t>(r) * k + i);
      unrolled<kOutputs>([&](int j) { sums[r][j] = sums[r][j] + inputs * load(w + static_cast<size_t>(j) * k + i); });
    });
  }
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < kOutputs; ++j) products[r][first + static_cast<uint32_t>(j)] = sum_lanes(sums[r][j]);
}

// Computes outputs [output, output + 16) of kRows rows.
template <int kRows> inline void linear_float_rows(const LinearArgs<float>& args, size_t first_row, uint32_t output) {
  constexpr int kOutputs = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;  // as many sums as hide the latency of one
  float products[kRows][16];
  for (uint32_t j = 0; j < 16; j += kOutputs) {
    multiply_floats<kRows, kOutputs>(
        args.x + first_row * args.k, args.w + size_t{output + j} * args.k, args.k, j, products);
  }
  for (size_t r = 0; r < kRows; ++r) {
    const size_t at = (first_row + r) * args.y_stride + output;
    V y = load(products[r]) + load(args.bias + output);
    if (args.activation != Activation::kNone) y = activate(args.activation, y);
    if (args.residual != nullptr) y = y + load(args.residual + at);
    store(args.y + at, y);
  }
}

void linear(const LinearArgs<float>& args) {
  for (uint32_t output = 0; output < args.n; output += 16) {  // the weights stay in the cache for all rows
    uint32_t row = 0;
    for (; row + 4 <= args.rows; row += 4) linear_float_rows<4>(args, row, output);
    if (args.rows - row >= 2) {
      linear_float_rows<2>(args, row, output);
      row += 2;
    }
    if (row < args.rows) linear_float_rows<1>(args, row, output);
  }
}

void embed(const EmbedArgs<float>& args) {
  const float* w = args.w + size_t{args.token} * args.n;
  const V scale = set(args.embedding_scale);
  for (uint32_t i = 0; i < args.n; i += 16) store(args.y + i, load(w + i) * scale + load(args.position + i));
}

// args.weights [n_keys] <- the scores of the query in args.q_row against every key of a head, after soft-max.
inline void attention_weights(const AttentionArgs<float>& args, uint32_t row, const float* keys, const float* bias) {
  const uint32_t padded_keys = (args.n_keys + 15) / 16 * 16;
  float largest = -__builtin_huge_valf();
  for (uint32_t t = 0; t < args.n_keys; ++t) {
    const float* key = keys + key_row(args, t, row) * args.d_head;
    V sum = set(0.0f);
    for (uint32_t i = 0; i < args.d_head; i += 16) sum = sum + load(args.q_row + i) * load(key + i);
    args.weights[t] = with_bias(sum_lanes(sum) * args.scale, bias, t);
    if (args.weights[t] > largest) largest = args.weights[t];
  }
  for (uint32_t t = args.n_keys; t < padded_keys; ++t) args.weights[t] = -__builtin_huge_valf();  // e^-inf adds nothing
  const V shift = set(largest);
  V sum = set(0.0f);
  for (uint32_t t = 0; t < padded_keys; t += 16) {
    const V e = exp_vector(load(args.weights + t) - shift);
    store(args.weights + t, e);
    sum = sum + e;
  }
  const V inverse = set(1.0f / sum_lanes(sum));
  for (uint32_t t = 0; t < padded_keys; t += 16) store(args.weights + t, load(args.weights + t) * inverse);
}

void attention(const AttentionArgs<float>& args) {
  for (uint32_t head = 0; head < args.n_heads; ++head) {
    const size_t first = head * args.head_stride * args.d_head, column = size_t{head} * args.d_head;
    for (uint32_t row = 0; row < args.rows; ++row) {
      quantize_rows(
          {args.q + row * args.q_stride + column, args.q_row, nullptr, args.d_head, args.d_head, 0, 1, args.d_head});
      attention_weights(args, row, args.keys + first, row_bias(args, head_bias(args, head), row));
      float* out = args.out + row * args.out_stride + column;
      for (uint32_t j = 0; j < args.d_head; j += 16) {
        V sum = set(0.0f);
        for (uint32_t t = 0; t < args.n_keys; ++t)
          sum = sum + set(args.weights[t]) * load(args.values + first + key_row(args, t, row) * args.d_head + j);
        store(out + j, sum);
      }
    }
  }
}

void output_block(const OutputBlockArgs<float>& args) {
  linear(args.linear);
  output_block_sums(args);
}

constexpr TypedKernels<float> kFloatKernels = {quantize_rows, linear, embed, attention, output_block};
}}  // namespace goldcrest
