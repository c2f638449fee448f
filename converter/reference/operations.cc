// SPDX-License-Identifier: Apache-2.0
#include "reference/operations.h"
#include "kernels/reference/math.h"
#include "reference/input_products.h"
#include "spec/error.h"

namespace goldcrest::converter {
Rows linear(const LinearSpec& spec, const Rows& x) {
  CollectInputs::add(spec.weight.get(), x);
  Rows y =
      times_transposed(x, ConstRows(spec.weight->values.data(), index(spec.weight->rows), index(spec.weight->columns)));
  y.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(spec.bias.data(), index(spec.bias.size()));
  return y;
}

float activate(Activation activation, float x) {
  switch (activation) {
    case Activation::kRelu: return x < 0 ? 0 : x;
    case Activation::kGelu: return 0.5f * x * (1.0f + erf_float(x * 0.70710678f));
    case Activation::kGeluTanh:  // Hendrycks and Gimpel 2016, section 2; 0.79788456 = sqrt(2 / pi)
      return 0.5f * x * (1.0f + tanh_float(0.79788456f * (x + 0.044715f * (x * x * x))));
    case Activation::kSilu: return x * sigmoid_float(x);
    case Activation::kTanh: return tanh_float(x);
    case Activation::kNone: return x;
  }
  throw Error("activation {}: unknown", static_cast<int>(activation));
}

void turn(const StackSpec& stack, uint32_t first_position, uint32_t position_step, Rows& x) {
  const RotarySpec& rotary = *stack.rotary;
  const Eigen::Index half = index(rotary.half);
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    const size_t position = first_position + static_cast<size_t>(row) * position_step;
    if (position >= rotary.table.rows)
      throw Error("position {}: the model turns {} positions", position, rotary.table.rows);
    const float* const cosine = rotary.table.row(static_cast<uint32_t>(position));
    const float* const sine = cosine + half;
    for (Eigen::Index head = 0; head < x.cols(); head += index(stack.d_head)) {
      for (Eigen::Index c = 0; c < half; ++c) {
        float &first = x(row, head + c), &second = x(row, head + half + c);
        const float a = first, b = second;
        first = a * cosine[c] - b * sine[c];
        second = b * cosine[c] + a * sine[c];
      }
    }
  }
}
}  // namespace goldcrest::converter
