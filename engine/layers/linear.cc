// SPDX-License-Identifier: Apache-2.0
#include "layers/linear.h"

namespace goldcrest {

void quantize(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch) {
  runtime.kernels->quantize_rows({x, scratch.quantized, scratch.row_scales, n, n, 1, rows, n});
}

LinearArgs linear_args(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows) {
  LinearArgs args = {};
  args.x = scratch.quantized;
  args.x_scale = scratch.row_scales;
  args.w = runtime.tensor<int8_t>(view.weights);
  args.w_scale = runtime.tensor<float>(view.scale);
  args.bias = runtime.tensor<float>(view.bias);
  args.weight_sum = runtime.tensor<int32_t>(view.weight_sum);
  args.y_stride = view.n;
  args.rows = rows;
  args.n = view.n;
  args.k = view.k;
  args.layout = view.layout;
  args.activation = Activation::kNone;
  return args;
}

void linear(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows,
            Activation activation, const float* residual, float* y) {
  LinearArgs args = linear_args(runtime, view, scratch, rows);
  args.activation = activation;
  args.residual = residual;
  args.y = y;
  runtime.kernels->linear(args);
}

LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n) {
  // 16 outputs take 16 * k bytes of weights and 64 bytes of each parameter, in either layout.
  LinearView slice = view;
  slice.weights += first / 16 * (view.k / 4);
  slice.scale += first / 16;
  slice.bias += first / 16;
  slice.weight_sum += first / 16;
  slice.n = n;
  return slice;
}

}  // namespace goldcrest
