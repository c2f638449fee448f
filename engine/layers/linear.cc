// SPDX-License-Identifier: Apache-2.0
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
  return kHasBackends && kernels.parallelizes_itself != nullptr &&
         kernels.parallelizes_itself(kernels.backend, runtime.tensor<uint8_t>(call.view->weights), call.view->n,
                                     call.rows);
}

void run_call(const Pass& pass, const LinearCall& call) {
  const Operations& operation = operations(pass.runtime);
  if (parallelizes_itself(pass.runtime, call)) return operation.linear(pass.runtime, call);
  const LinearView& view = *call.view;
  const uint32_t n_groups = (view.n + kOutputsTogether - 1) / kOutputsTogether;
  const Split split = split_work(linear_macs(call.rows, view.n, view.k), n_groups, pass.n_tasks);
  if (split.n_tasks == 1) return operation.linear(pass.runtime, call);
  run_pieces(pass.runtime, split, [&](uint32_t piece, uint32_t) {
    const Range groups = split.part_of(n_groups, piece);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    LinearView slice;
    operation.linear(pass.runtime, outputs_of(call, first, smaller(end, view.n) - first, &slice));
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

}  // namespace

Quantized quantize(const Pass& pass, const float* x, uint32_t k) {
  operations(pass.runtime).quantize(pass.runtime, x, pass.rows.count, k, pass.inputs);
  return {k};
}

void multiply(const Pass& pass, const LinearView& view, Quantized, float* y) {
  multiply(pass, view, {Activation::kNone, nullptr}, y);
}

void multiply_activated(const Pass& pass, const LinearView& view, Activation activation, Quantized, float* y) {
  multiply(pass, view, {activation, nullptr}, y);
}

// Small code: nearly all of its time is in the two products.
[[gnu::cold]] void multiply_gated(const Pass& pass, const LinearView& view, Activation activation, Quantized x,
                                  float* y) {
  const uint32_t half = view.n / 2;
  const size_t n = size_t{pass.rows.count} * half;
  multiply_activated(pass, slice_outputs(view, 0, half), activation, x, y);
  multiply(pass, slice_outputs(view, half, half), x, y + n);
  for (size_t i = 0; i < n; ++i) y[i] = y[i] * y[n + i];
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
