// SPDX-License-Identifier: Apache-2.0
// Attention over int8 keys and values, on the vectors of vector_kernels-inl.h.

namespace goldcrest {
namespace {

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

}  // namespace
}  // namespace goldcrest
