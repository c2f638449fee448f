// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/linear.h"
#include "base/arithmetic.h"
#include "model/packed.h"

namespace goldcrest {
namespace {
constexpr uint32_t kOutputsTogether = 64;  // four panels of weights, and whole cache lines of y

// Returns the part of a call that computes the outputs [first, first + n). *slice <- its view.
LinearCall outputs_of(const LinearCall& whole, uint32_t first, uint32_t n, LinearView* slice) {
  *slice = slice_outputs(*whole.view, first, n);
  LinearCall part = whole;
  part.view = slice;
  part.residual += whole.residual != nullptr ? first : 0;
  part.y += first;
  return part;
}

// Returns whether a backend's table splits the call over threads itself.
bool parallelizes_itself(const Runtime& runtime, const LinearCall& call) {
  const Kernels& kernels = *runtime.kernels;
  return kHasSystem && kernels.parallelizes_itself != nullptr && !call.view->has_remainders() &&
         kernels.parallelizes_itself(
             kernels.backend, runtime.tensor<uint8_t>(call.view->weights), call.view->n, call.rows);
}
}  // namespace

Quantized quantize(const Pass& pass, const LinearView& matrix, const float* x) {
  if (matrix.fine_input && pass.fine.exists())
    quantize_one_by_one(pass.runtime, {x, matrix.k, pass.rows.count, matrix.k}, pass.inputs, pass.fine.values);
  else operations(pass.runtime).quantize(pass.runtime, x, pass.rows.count, matrix.k, pass.inputs);
  return {matrix.k};
}

void multiply(const Pass& pass, const LinearView& matrix, Quantized, const Finish& finish, float* y) {
  const LinearCall call = {
      &matrix, pass.inputs, pass.rows.count, finish.activation, finish.residual, y, matrix.n, pass.n_tasks > 1};
  const uint32_t n_groups = (matrix.n + kOutputsTogether - 1) / kOutputsTogether;
  const Split split = split_work(linear_macs(call.rows, matrix.n, matrix.k), n_groups, pass.n_tasks);
  const auto& linear = operations(pass.runtime).linear;
  if (split.n_tasks == 1 || parallelizes_itself(pass.runtime, call)) return linear(pass.runtime, call, pass.fine, 0);
  run_pieces(pass.runtime, split, [&](uint32_t piece, uint32_t task) {
    const Range groups = split.part_of(n_groups, piece);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    LinearView slice;
    linear(pass.runtime, outputs_of(call, first, smaller(end, matrix.n) - first, &slice), pass.fine, task);
  });
}

LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n) {
  // In every layout, 16 outputs have 16 * k weights and 64 bytes of each parameter. If weights are packed, the outputs
  // have 256 bytes and 16 multipliers for each group.
  LinearView slice = view;
  const uint32_t panels = first / 16, groups = view.is_packed() ? panels * packed_groups(view.k) : 0;
  slice.weights += view.is_packed() ? 4 * groups : panels * (view.k / 4 * bytes_of(view.weight_type));
  slice.to_multipliers -= 15 * groups;
  slice.scale += panels;
  slice.bias += panels;
  slice.weight_sum += panels;
  slice.n = n;
  return slice;
}
}  // namespace goldcrest
