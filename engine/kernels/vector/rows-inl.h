// SPDX-License-Identifier: Apache-2.0
// Quantization, layer norm and embedding of rows, over the 16 lanes of vector/kernels-inl.h.

namespace goldcrest { namespace {
// Returns the bits of the largest |number(i)|, i < n.
template <typename Numbers> inline uint32_t largest_magnitude(size_t n, Numbers number) {
  V largest = set(0.0f);
  for_vectors(n, [&](size_t i) { largest = max_magnitude(largest, number(i)); });
  return largest_bits(largest);
}

// Quantizes x [n], the largest magnitude of which has the bits amax_bits.
inline void quantize_row(const float* x, size_t n, uint32_t amax_bits, int8_t* q, float* scale) {
  if (amax_bits < kSmallestAmax || amax_bits > kLargestAmax) {
    memset(q, 0, n);
    *scale = 0.0f;
    return;
  }
  // |x * inverse| <= 127 * (1 + 2^-23)^2, which rounds to at most 127.
  const float amax = bits_float(amax_bits);
  const V inverse = set(127.0f / amax);
  const auto scaled = [&](size_t i) { return load(x + i) * inverse; };
  size_t i = 0;
  for (; i + 64 <= n; i += 64) store_int8(q + i, {scaled(i), scaled(i + 16), scaled(i + 32), scaled(i + 48)});
  for (; i < n; i += 16) store_int8(q + i, scaled(i));
  *scale = amax / 127.0f;
}

__attribute__((flatten)) void quantize_rows(const QuantizeRowsArgs<int8_t>& rows) {
  const QuantizeRowsArgs<int8_t> args = rows;  // a copy, which the stores cannot change
  const float* x = args.x;
  int8_t* q = args.q;
  float* scale = args.scale;
  for (uint32_t row = 0; row < args.rows; ++row, x += args.x_stride, q += args.q_stride, scale += args.scale_stride)
    quantize_row(x, args.n, largest_magnitude(args.n, [&](size_t i) { return load(x + i); }), q, scale);
}

[[maybe_unused]] __attribute__((flatten)) void quantize_fine_inputs(
    const QuantizeRowsArgs<int8_t>& rows, float* remainders) {
  const QuantizeRowsArgs<int8_t> args = rows;
  const size_t n = args.n, to_remainders = args.rows * args.q_stride, to_scales = args.rows * args.scale_stride;
  const float* x = args.x;
  int8_t* q = args.q;
  float* scale = args.scale;
  for (uint32_t row = 0; row < args.rows; ++row, x += args.x_stride, q += args.q_stride, scale += args.scale_stride) {
    quantize_row(x, n, largest_magnitude(n, [&](size_t i) { return load(x + i); }), q, scale);
    const V step = set(-*scale);
    const uint32_t amax_bits = largest_magnitude(n, [&](size_t i) {
      const V remainder = load_int8(q + i) * step + load(x + i);
      store(remainders + i, remainder);
      return remainder;
    });
    quantize_row(remainders, n, amax_bits, q + to_remainders, scale + to_scales);
  }
}

[[maybe_unused]] void quantize_fine(const QuantizeRowsArgs<int8_t>& args) {
  const size_t n = args.n;
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const x = args.x + row * args.x_stride;
    int8_t* const q = args.q + row * args.q_stride;
    const uint32_t amax_bits = largest_magnitude(n, [&](size_t i) { return load(x + i); });
    const bool counts = amax_bits >= kSmallestFineAmax && amax_bits <= kLargestAmax;
    args.scale[row * args.scale_stride] = counts ? bits_float(amax_bits) / kFineSteps : 0.0f;
    if (!counts) {
      memset(q, 0, 2 * n);
      continue;
    }
    const V inverse = set(127.0f / bits_float(amax_bits));
    for (size_t i = 0; i < n; i += 16) {
      const V scaled = load(x + i) * inverse;
      store_int8(q + i, scaled);
      store_int8(q + n + i, (scaled - load_int8(q + i)) * set(kHighStep));
    }
  }
}

void embed(const EmbedArgs<int8_t>& args) {
  const V scale = set(args.w_scale[args.token] * args.embedding_scale);
  const size_t token = args.token, n = args.n;
  const auto write = [&](uint32_t i, V q) { store(args.y + i, q * scale + load(args.position + i)); };
  if (args.layout == Layout::kN16K4) {
    for (uint32_t i = 0; i < n; i += 16)
      write(i, load_int8_words(args.w + token / 16 * 16 * n + token % 16 * 4 + size_t{16} * i));
    return;
  }
  const bool row_major = args.layout == Layout::kRowMajor;
  const int8_t* const w = args.w + (row_major ? token * n : token / 4 * 4 * n + token % 4 * 16);
  for (uint32_t i = 0; i < n; i += 16) write(i, load_int8(w + (row_major ? size_t{i} : size_t{4} * i)));
}

void layer_norm(const LayerNormArgs& args) {
  const float inverse_n = 1.0f / static_cast<float>(args.n);
  const size_t whole = args.n / 16 * 16;
  const uint32_t rest = args.n % 16;
  const float *const gamma = args.gamma, *const beta = args.beta;
  const Mask in_row = first_lanes(rest);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.stride;
    float* y = args.y + row * args.stride;
    V mean = set(0.0f);
    if (args.centred) {
      V sum = set(0.0f);
      for_vectors(whole, [&](size_t i) { sum = sum + load(x + i); });
      if (rest != 0) sum = select(in_row, sum + load(x + whole), sum);
      mean = set(sum_lanes(sum) * inverse_n);
    }
    V squares = set(0.0f);
    for_vectors(whole, [&](size_t i) {
      const V difference = load(x + i) - mean;
      squares = squares + difference * difference;
    });
    if (rest != 0) {
      const V difference = load(x + whole) - mean;
      squares = select(in_row, squares + difference * difference, squares);
    }
    const float variance = sum_lanes(squares) * inverse_n;
    const V inverse_deviation = set(1.0f / sqrt_float(variance + args.epsilon));
    const auto normalize = [&](size_t i) {
      return ((load(x + i) - mean) * inverse_deviation) * load(gamma + i) + load(beta + i);
    };
    for (size_t i = 0; i < whole; i += 16) store(y + i, normalize(i));
    if (rest != 0) store(y + whole, select(in_row, normalize(whole), set(0.0f)));
  }
}
}}  // namespace goldcrest
