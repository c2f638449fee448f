// SPDX-License-Identifier: Apache-2.0
#include "layers/linear.h"

#include "layers/float32.h"

namespace goldcrest {

namespace {

constexpr uint32_t kOutputsTogether = 64;  // four panels of weights, and whole cache lines of y

// The part of a linear layer that computes the outputs [first, first + n).
LinearArgs<int8_t> outputs_of(const LinearArgs<int8_t>& whole, uint32_t first, uint32_t n) {
  LinearArgs<int8_t> part = whole;
  part.w += size_t{first} * whole.k;
  part.w_scale += first;
  part.bias += first;
  part.weight_sum += first;
  part.residual += whole.residual != nullptr ? first : 0;
  part.y += first;
  part.n = n;
  return part;
}

// Whether a backend's table computes the layer whole.
bool computes_whole(const Kernels& kernels, const LinearArgs<int8_t>& args) {
  return kernels.computes_whole != nullptr && kernels.computes_whole(kernels.backend, args.w, args.n, args.rows);
}

}  // namespace

void quantize(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch) {
  if (runs_float32(runtime)) return copy_inputs(runtime, x, rows, n, scratch);
  runtime.kernels->int8.quantize_rows({x, scratch.inputs, scratch.row_scales, n, n, 1, rows, n});
}

LinearArgs<int8_t> linear_args(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                               uint32_t rows) {
  LinearArgs<int8_t> args = {};
  args.x = scratch.inputs;
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
  args.backend = runtime.kernels->backend;
  return args;
}

void linear(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows,
            Activation activation, const float* residual, float* y) {
  LinearArgs<int8_t> args = linear_args(runtime, view, scratch, rows);
  args.activation = activation;
  args.residual = residual;
  args.y = y;
  args.alone = scratch.n_tasks > 1;
  const auto compute = [&](uint32_t first, uint32_t n) {
    const LinearArgs<int8_t> part = outputs_of(args, first, n);
    if (runs_float32(runtime)) return linear_float(runtime, slice_outputs(view, first, n), scratch, part);
    runtime.kernels->int8.linear(part);
  };
  if (computes_whole(*runtime.kernels, args)) return compute(0, args.n);  // splits itself
  const uint32_t n_groups = (args.n + kOutputsTogether - 1) / kOutputsTogether;
  const uint32_t most = n_groups < scratch.n_tasks ? n_groups : scratch.n_tasks;
  const uint32_t n_tasks = count_tasks(linear_macs(rows, args.n, args.k), most);
  run_tasks(runtime, n_tasks, [&](uint32_t task) {
    const Range groups = part_of(n_groups, task, n_tasks);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    compute(first, (end < args.n ? end : args.n) - first);
  });
}

LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n) {
  // 16 outputs take 16 * k weights and 64 bytes of each parameter, in every layout.
  LinearView slice = view;
  slice.weights += first / 16 * (view.k / 4 * view.weight_bytes);
  slice.scale += first / 16;
  slice.bias += first / 16;
  slice.weight_sum += first / 16;
  slice.n = n;
  return slice;
}

}  // namespace goldcrest
