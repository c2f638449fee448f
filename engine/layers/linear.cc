// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"

#include "layers/linear.h"

#include "base/arithmetic.h"

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
         kernels.parallelizes_itself(kernels.backend, runtime.tensor<uint8_t>(call.view->weights), call.view->n,
                                     call.rows);
}

void run_call(const Pass& pass, const LinearCall& call) {
  if (parallelizes_itself(pass.runtime, call)) return operations(pass.runtime).linear(pass.runtime, call);
  const LinearView& view = *call.view;
  const uint32_t n_groups = (view.n + kOutputsTogether - 1) / kOutputsTogether;
  const Split split = split_work(linear_macs(call.rows, view.n, view.k), n_groups, pass.n_tasks);
  if (split.n_tasks == 1) return run_refined(pass.runtime, call, pass.fine, 0);
  run_pieces(pass.runtime, split, [&](uint32_t piece, uint32_t task) {
    const Range groups = split.part_of(n_groups, piece);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    LinearView slice;
    run_refined(pass.runtime, outputs_of(call, first, smaller(end, view.n) - first, &slice), pass.fine, task);
  });
}

// The end of a call: activation(view(x)) + residual.
struct Finish {
  Activation activation;
  const float* residual;  // null: none; may be y
};

void multiply(const Pass& pass, const LinearView& view, const Finish& finish, float* y) {
  run_call(pass,
           {&view, pass.inputs, pass.rows.count, finish.activation, finish.residual, y, view.n, pass.n_tasks > 1});
}

// Small code: nearly all of its time is in the two products.
[[maybe_unused]] void multiply_gated(const Pass& pass, const LinearView& view, Activation activation, float* y) {
  const uint32_t half = view.n / 2;
  const size_t n = size_t{pass.rows.count} * half;
  multiply(pass, slice_outputs(view, 0, half), {activation, nullptr}, y);
  multiply(pass, slice_outputs(view, half, half), {Activation::kNone, nullptr}, y + n);
  for (size_t i = 0; i < n; ++i) y[i] = y[i] * y[n + i];
}

}  // namespace

[[gnu::noinline]] void run_refined(const Runtime& runtime, const LinearCall& call, const FineScratch& fine,
                                   uint32_t task) {
  if (call.view->has_remainders() && fine.exists()) return linear_fine(runtime, call, fine, task);
  operations(runtime).linear(runtime, call);
}

Quantized quantize(const Pass& pass, const LinearView& matrix, const float* x) {
  if (matrix.fine_input && pass.fine.exists()) {
    quantize_one_by_one(pass.runtime, {x, matrix.k, pass.rows.count, matrix.k}, pass.inputs, pass.fine.values);
  } else {
    operations(pass.runtime).quantize(pass.runtime, x, pass.rows.count, matrix.k, pass.inputs);
  }
  return {matrix.k};
}

// Small code: nearly all of its time is in the kernels.
void quantize_one_by_one(const Runtime& runtime, const RowsToQuantize& rows, const LinearInputs& inputs,
                         float* remainder) {
  if (kHasOnePass && remainder != nullptr && runtime.kernels->quantize_fine_inputs != nullptr)
    return runtime.kernels->quantize_fine_inputs(
        {rows.x, static_cast<int8_t*>(inputs.rows), inputs.scales, rows.x_stride, rows.k, 1, rows.rows, rows.k},
        remainder);
  const uint32_t k = rows.k, row_bytes = k * bytes_of(runtime.model.encoder.input_type);
  const uint32_t end = remainder != nullptr ? 2 * rows.rows : rows.rows;
  const float* x = rows.x;
  for (uint32_t i = 0; i < rows.rows; ++i, x += rows.x_stride) {
    const float* from = x;  // then the remainder
    for (uint32_t at = i; at < end; at += rows.rows, from = remainder) {
      const LinearInputs to = {static_cast<uint8_t*>(inputs.rows) + size_t{at} * row_bytes,
                               inputs.scales != nullptr ? inputs.scales + at : nullptr};
      operations(runtime).quantize(runtime, from, 1, k, to);
      if (at + rows.rows >= end) continue;
      // x + q * -scale, the embedding of a token at a position, has the bits of x - q * scale.
      const float scale = -*to.scales;
      runtime.kernels->int8.embed(
          {static_cast<const int8_t*>(to.rows), &scale, x, remainder, 0, k, 1.0f, Layout::kRowMajor});
    }
  }
}

void multiply(const Pass& pass, const LinearView& view, Quantized, float* y) {
  multiply(pass, view, {Activation::kNone, nullptr}, y);
}

void multiply_activated(const Pass& pass, const LinearView& view, Activation activation, Quantized, float* y) {
  if (pass.stack.has_gates()) return multiply_gated(pass, view, activation, y);
  multiply(pass, view, {activation, nullptr}, y);
}

void add_product(const Pass& pass, const LinearView& view, Quantized, float* y) {
  multiply(pass, view, {Activation::kNone, y}, y);
}

LinearView slice_outputs(const LinearView& view, uint32_t first, uint32_t n) {
  // In every layout, 16 outputs have 16 * k weights and 64 bytes of each parameter.
  LinearView slice = view;
  slice.weights += first / 16 * (view.k / 4 * bytes_of(view.weight_type));
  slice.scale += first / 16;
  slice.bias += first / 16;
  slice.weight_sum += first / 16;
  slice.n = n;
  return slice;
}

}  // namespace goldcrest
