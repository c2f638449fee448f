// SPDX-License-Identifier: Apache-2.0
// The functions of math.h over the 16 lanes of vector_kernels-inl.h, operation for operation.

namespace goldcrest {
namespace {

inline V round_half_even(V x) { return (x + set(12582912.0f)) - set(12582912.0f); }

// e^x for x <= 0 or NaN: all that is asked for.
inline V exp_vector(V x) {
  const Mask counts = not_less(x, set(-40.0f));
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

}  // namespace
}  // namespace goldcrest
