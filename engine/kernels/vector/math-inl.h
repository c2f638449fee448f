// SPDX-License-Identifier: Apache-2.0
// The functions of math.h, and the recurrent block that is made of them, over the lanes of vector/kernels-inl.h,
// operation for operation.

namespace goldcrest { namespace {
// Calls body(0), body(1), ... without a loop, so that the arrays that they index can live in registers.
template <int kCount, typename Body> inline void unrolled(Body body) {
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) body(i);
}

// Calls use(i) for i = 0, 16, ... below n, a multiple of 16.
template <typename Use> inline void for_vectors(size_t n, Use use) {
  const size_t fours = n / 64 * 64;
  for (size_t first = 0; first < fours; first += 64)
    unrolled<4>([&](int i) { use(first + 16 * static_cast<size_t>(i)); });
  for (size_t first = fours; first < n; first += 16) use(first);
}

// Turns each x into e^x, for x <= 0 or NaN; no caller has others. The kCount vectors take each step together, because a
// step waits long for the previous one.
template <int kCount> inline void exp_vectors(V (&x)[kCount]) {
  Power n[kCount];
  V r[kCount], p[kCount];
  unrolled<kCount>([&](int i) { n[i] = nearest_power(x[i] * set(1.44269504f)); });
  // The first part of ln 2 has so few bits that its product with n is exact.
  unrolled<kCount>([&](int i) { r[i] = subtract_exact(x[i], n[i].value, set(0.693359375f)); });
  unrolled<kCount>([&](int i) { r[i] = r[i] - n[i].value * set(-2.12194440e-4f); });
  unrolled<kCount>([&](int i) { p[i] = set(1.98412698e-4f) * r[i] + set(1.38888889e-3f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(8.33333333e-3f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(4.16666667e-2f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(1.66666667e-1f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(0.5f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(1.0f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(1.0f); });
  unrolled<kCount>([&](int i) { x[i] = keep(not_less(x[i], set(-40.0f)), scale_by_power_of_two(p[i], n[i])); });
}

inline V exp_vector(V x) {
  V one[1] = {x};
  exp_vectors(one);
  return one[0];
}

// The same by short_exp_float.
template <int kCount> inline void short_exp_vectors(V (&x)[kCount]) {
  Power n[kCount];
  V r[kCount], p[kCount];
  unrolled<kCount>([&](int i) { r[i] = x[i] * set(1.44269504f); });
  unrolled<kCount>([&](int i) { n[i] = nearest_power(r[i]); });
  unrolled<kCount>([&](int i) { r[i] = r[i] - n[i].value; });
  unrolled<kCount>([&](int i) { p[i] = set(0.0551716685f) * r[i] + set(0.242611125f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(0.693260968f); });
  unrolled<kCount>([&](int i) { p[i] = p[i] * r[i] + set(0.999928057f); });
  unrolled<kCount>([&](int i) { x[i] = keep(not_less(x[i], set(-40.0f)), scale_by_power_of_two(p[i], n[i])); });
}

inline V short_exp_vector(V x) {
  V one[1] = {x};
  short_exp_vectors(one);
  return one[0];
}

// Calls use(i, e^(x[i] - shift) of 16 lanes) for i = 0, 16, ... below n, a multiple of 16. kShort: by short_exp_float
template <bool kShort = false, typename Use> inline void for_exponentials(const float* x, size_t n, V shift, Use use) {
  const V minus_shift = negate(shift);  // adding a memory operand takes one instruction less on x86
  constexpr size_t kTogether = 16 * kExpVectors;
  size_t first = 0;
  for (; first + kTogether <= n; first += kTogether) {
    V e[kExpVectors];
    unrolled<kExpVectors>([&](int i) { e[i] = load(x + first + 16 * i) + minus_shift; });
    if constexpr (kShort) short_exp_vectors(e);
    else exp_vectors(e);
    unrolled<kExpVectors>([&](int i) { use(first + 16 * static_cast<size_t>(i), e[i]); });
  }
  for (; first < n; first += 16) {
    const V rest = load(x + first) + minus_shift;
    use(first, kShort ? short_exp_vector(rest) : exp_vector(rest));
  }
}

// The same for each x.
template <int kCount> inline void sigmoid_vectors(V (&x)[kCount]) {
  V e[kCount];
  unrolled<kCount>([&](int i) { e[i] = negative(x[i]); });
  exp_vectors(e);
  unrolled<kCount>([&](int i) {
    const V inverse = set(1.0f) / (set(1.0f) + e[i]);
    x[i] = select(greater(set(0.0f), x[i]), e[i] * inverse, inverse);
  });
}

template <int kCount> inline void tanh_vectors(V (&x)[kCount]) {
  V e[kCount];
  unrolled<kCount>([&](int i) { e[i] = set(2.0f) * negative(x[i]); });
  exp_vectors(e);
  unrolled<kCount>([&](int i) {
    const V t = (set(1.0f) - e[i]) / (set(1.0f) + e[i]);
    x[i] = select(greater(set(0.0f), x[i]), negate(t), t);
  });
}

template <int kCount> inline void erf_vectors(V (&x)[kCount]) {
  V e[kCount];
  unrolled<kCount>([&](int i) { e[i] = negate(x[i] * x[i]); });
  exp_vectors(e);
  unrolled<kCount>([&](int i) {
    const Mask negative = greater(set(0.0f), x[i]);
    const V a = select(negative, negate(x[i]), x[i]);
    const V t = set(1.0f) / (set(1.0f) + set(0.3275911f) * a);
    V p = set(1.061405429f);
    p = p * t + set(-1.453152027f);
    p = p * t + set(1.421413741f);
    p = p * t + set(-0.284496736f);
    p = p * t + set(0.254829592f);
    const V y = set(1.0f) - (p * t) * e[i];
    x[i] = select(negative, negate(y), y);
  });
}

template <int kCount> inline void activate_vectors(Activation activation, V (&x)[kCount]) {
  V y[kCount];
  switch (activation) {
    case Activation::kRelu: unrolled<kCount>([&](int i) { x[i] = larger(x[i], set(0.0f)); }); break;
    case Activation::kGelu:
      unrolled<kCount>([&](int i) { y[i] = x[i] * set(0.707106781f); });
      erf_vectors(y);
      unrolled<kCount>([&](int i) { x[i] = (set(0.5f) * x[i]) * (set(1.0f) + y[i]); });
      break;
    case Activation::kGeluTanh:
    case Activation::kTanh: {
      const bool is_tanh = activation == Activation::kTanh;
      unrolled<kCount>(
          [&](int i) { y[i] = is_tanh ? x[i] : set(0.797884561f) * (x[i] + set(0.044715f) * (x[i] * x[i]) * x[i]); });
      tanh_vectors(y);
      unrolled<kCount>([&](int i) { x[i] = is_tanh ? y[i] : (set(0.5f) * x[i]) * (set(1.0f) + y[i]); });
      break;
    }
    case Activation::kSilu:
      unrolled<kCount>([&](int i) { y[i] = x[i]; });
      sigmoid_vectors(y);
      unrolled<kCount>([&](int i) { x[i] = x[i] * y[i]; });
      break;
    case Activation::kNone: break;
  }
}

inline V activate(Activation activation, V x) {
  V one[1] = {x};
  activate_vectors(activation, one);
  return one[0];
}

// The recurrent block, over vectors of any number of lanes.
template <uint32_t kLanes> void recurrence(const RecurrenceArgs& args) {
  const V zero = set(0.0f), one = set(1.0f), smallest = set(kSmallestCell);
  for (uint32_t i = 0; i < args.n; i += kLanes) {
    V f[1] = {load(args.forget + i)};
    sigmoid_vectors(f);
    const V past = args.past != nullptr ? load(args.past + i) : zero;
    const V cell = f[0] * past + (one - f[0]) * load(args.input + i);
    const V magnitude = select(greater(zero, cell), negate(cell), cell);
    const V kept = select(not_less(magnitude, smallest), cell, zero);
    store(args.cell + i, kept);
    store(args.y + i, load(args.y + i) + larger(kept, zero));
  }
}
}}  // namespace goldcrest
