// SPDX-License-Identifier: Apache-2.0
#include "layers/linear.h"

#include "layers/float32.h"

namespace goldcrest {

namespace {

constexpr uint32_t kOutputsTogether = 64;  // four panels of weights, and whole cache lines of y

// The part of a linear layer that computes the outputs [first, first + n).
LinearArgs outputs_of(const LinearArgs& whole, uint32_t first, uint32_t n) {
  LinearArgs part = whole;
  part.w += size_t{first} * whole.k;
  part.w_scale += first;
  part.bias += first;
  part.weight_sum += first;
  part.residual += whole.residual != nullptr ? first : 0;
  part.y += first;
  part.n = n;
  return part;
}

// What a backend made of a layer; null without one.
const PreparedLayer* find_prepared(const Runtime& runtime, const LinearView& view) {
  uint32_t begin = 0, end = runtime.n_prepared;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const PreparedLayer& layer = runtime.prepared[middle];
    if (layer.weights == view.weights && layer.n == view.n) return &layer;
    const bool before = layer.weights < view.weights || (layer.weights == view.weights && layer.n < view.n);
    (before ? begin : end) = before ? middle + 1 : middle;
  }
  return nullptr;
}

}  // namespace

void quantize(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch) {
  if (runs_float32(runtime)) return copy_inputs(runtime, x, rows, n, scratch);
  runtime.kernels->quantize_rows({x, scratch.inputs, scratch.row_scales, n, n, 1, rows, n});
}

LinearArgs linear_args(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows) {
  LinearArgs args = {};
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
  args.prepared = find_prepared(runtime, view);
  return args;
}

void linear(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, uint32_t rows,
            Activation activation, const float* residual, float* y) {
  LinearArgs args = linear_args(runtime, view, scratch, rows);
  args.activation = activation;
  args.residual = residual;
  args.y = y;
  args.alone = scratch.n_tasks > 1;
  const auto compute = [&](uint32_t first, uint32_t n) {
    const LinearArgs part = outputs_of(args, first, n);
    if (runs_float32(runtime)) return linear_float(runtime, slice_outputs(view, first, n), scratch, part);
    runtime.kernels->linear(part);
  };
  if (args.prepared != nullptr && args.prepared->computes(rows)) return compute(0, args.n);  // splits itself
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
