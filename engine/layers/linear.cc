// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"

#include "layers/linear.h"

#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

namespace {

constexpr uint32_t kOutputsTogether = 64;  // four panels of weights, and whole cache lines of y

// Outputs [first, first + n) of a call: y <- activation(sums) + residual
[[gnu::cold, gnu::noinline]] void finish_fine(const LinearCall& call, uint32_t first, uint32_t n, const float* sums) {
  for (uint32_t row = 0; row < call.rows; ++row) {
    const size_t at = row * call.y_stride;
    float* const y = call.y + first + at;
    for (uint32_t j = 0; j < n; ++j) {
      const float value = reference_activate(call.activation, sums[at + j]);
      y[j] = call.residual != nullptr ? value + call.residual[first + at + j] : value;
    }
  }
}

// Sets the matrix's part of a product, except for the bias: returns that of the outputs [first, first + n).
[[gnu::cold, gnu::noinline]] const float* set_matrix(const Runtime& runtime, const LinearCall& call, uint32_t first,
                                                     LinearArgs<int8_t>& args) {
  const LinearTensors tensors = tensors_of(runtime, slice_outputs(*call.view, first, args.n));
  args.w = static_cast<const int8_t*>(tensors.weights);
  args.w_scale = tensors.scale;
  args.weight_sum = tensors.weight_sum;
  args.n = tensors.n;
  args.k = tensors.k;
  args.layout = tensors.layout;
  return tensors.bias;
}

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
  return kHasBackends && kernels.parallelizes_itself != nullptr && !call.view->fine_input &&
         kernels.parallelizes_itself(kernels.backend, runtime.tensor<uint8_t>(call.view->weights), call.view->n,
                                     call.rows);
}

// Computes a call, or the part of one from output `first` on.
void run_one(const Pass& pass, const LinearCall& call, [[maybe_unused]] uint32_t first) {
  if (kHasRefined && call.view->fine_input)
    return run_fine(pass.runtime, call, pass.fine.inputs, pass.projected + first);
  operations(pass.runtime).linear(pass.runtime, call);
}

void run_call(const Pass& pass, const LinearCall& call) {
  if (parallelizes_itself(pass.runtime, call)) return operations(pass.runtime).linear(pass.runtime, call);
  const LinearView& view = *call.view;
  const uint32_t n_groups = (view.n + kOutputsTogether - 1) / kOutputsTogether;
  const Split split = split_work(linear_macs(call.rows, view.n, view.k), n_groups, pass.n_tasks);
  if (split.n_tasks == 1) return run_one(pass, call, 0);
  run_pieces(pass.runtime, split, [&](uint32_t piece, uint32_t) {
    const Range groups = split.part_of(n_groups, piece);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    LinearView slice;
    run_one(pass, outputs_of(call, first, smaller(end, view.n) - first, &slice), first);
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
[[maybe_unused, gnu::cold]] void multiply_gated(const Pass& pass, const LinearView& view, Activation activation,
                                                float* y) {
  const uint32_t half = view.n / 2;
  const size_t n = size_t{pass.rows.count} * half;
  multiply(pass, slice_outputs(view, 0, half), {activation, nullptr}, y);
  multiply(pass, slice_outputs(view, half, half), {Activation::kNone, nullptr}, y + n);
  for (size_t i = 0; i < n; ++i) y[i] = y[i] * y[n + i];
}

}  // namespace

Quantized quantize(const Pass& pass, const float* x, uint32_t k) {
  if (kHasRefined && pass.fine.inputs.rows != nullptr) {
    quantize_one_by_one(pass.runtime, {x, k, pass.rows.count, k}, pass.inputs, pass.fine);
  } else {
    operations(pass.runtime).quantize(pass.runtime, x, pass.rows.count, k, pass.inputs);
  }
  return {k};
}

// Small code: nearly all of its time is in the kernels.
[[gnu::cold]] void quantize_one_by_one(const Runtime& runtime, const RowsToQuantize& rows, const LinearInputs& inputs,
                                       const FineInputs& fine) {
  const uint32_t k = rows.k, row_bytes = k * bytes_of(runtime.model.encoder.input_type);
  LinearInputs row = inputs, fine_row = fine.inputs;
  const float* x = rows.x;
  for (uint32_t i = 0; i < rows.rows; ++i, x += rows.x_stride) {
    operations(runtime).quantize(runtime, x, 1, k, row);
    if (fine_row.rows != nullptr) {
      const int8_t* const q = static_cast<const int8_t*>(row.rows);
      for (uint32_t j = 0; j < k; ++j) fine.remainder[j] = x[j] - static_cast<float>(q[j]) * *row.scales;
      operations(runtime).quantize(runtime, fine.remainder, 1, k, fine_row);
      fine_row = {static_cast<uint8_t*>(fine_row.rows) + row_bytes, fine_row.scales + 1};
    }
    row.rows = static_cast<uint8_t*>(row.rows) + row_bytes;
    if (row.scales != nullptr) ++row.scales;
  }
}

// Small code and a small frame: nearly all of its time is in the two products.
[[gnu::cold]] void run_fine(const Runtime& runtime, const LinearCall& call, const LinearInputs& fine, float* products) {
  for (uint32_t first = 0; first < call.view->n; first += kZeroBiases) {
    // y stays until its row is complete
    float* const sums = call.residual == call.y ? products + first : call.y + first;
    LinearArgs<int8_t> args = {};
    args.n = smaller(call.view->n - first, kZeroBiases);
    const float* const bias = set_matrix(runtime, call, first, args);
    args.y = sums;
    args.y_stride = call.y_stride;
    args.rows = call.rows;
    args.activation = Activation::kNone;
    args.backend = runtime.kernels->backend;
    args.x = static_cast<const int8_t*>(fine.rows);
    args.x_scale = fine.scales;
    args.bias = kZeroBias;
    runtime.kernels->int8.linear(args);
    args.x = static_cast<const int8_t*>(call.x.rows);
    args.x_scale = call.x.scales;
    args.bias = bias;
    args.residual = sums;
    runtime.kernels->int8.linear(args);
    finish_fine(call, first, args.n, sums);
  }
}

void multiply(const Pass& pass, const LinearView& view, Quantized, float* y) {
  multiply(pass, view, {Activation::kNone, nullptr}, y);
}

void multiply_activated(const Pass& pass, const LinearView& view, Activation activation, Quantized, float* y) {
  if (pass.stack.gated()) return multiply_gated(pass, view, activation, y);
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
