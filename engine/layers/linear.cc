// SPDX-License-Identifier: Apache-2.0
#include "layers/linear.h"

#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

namespace {

constexpr uint32_t kOutputsTogether = 64;  // four panels of weights, and whole cache lines of y
constexpr uint32_t kFineOutputs = 128;     // outputs of a call with fine inputs; its zeros take 512 bytes of flash

// Returns row i of quantized rows of k int8 values.
LinearInputs row_of(const LinearInputs& inputs, uint32_t i, uint32_t k) {
  return {static_cast<int8_t*>(inputs.rows) + size_t{i} * k, inputs.scales + i};
}

// Returns the part of a call that computes the outputs [first, first + n). *slice <- its view.
FineCall outputs_of(const FineCall& whole, uint32_t first, uint32_t n, LinearView* slice) {
  *slice = slice_outputs(*whole.call.view, first, n);
  FineCall part = whole;
  part.call.view = slice;
  part.call.residual += whole.call.residual != nullptr ? first : 0;
  part.call.y += first;
  if (kHasRefined) part.products += whole.products != nullptr ? first : 0;
  return part;
}

void run_one(const Runtime& runtime, const FineCall& fine) {
  if (kHasRefined && fine.call.view->fine_input) return run_fine(runtime, fine);
  operations(runtime).linear(runtime, fine.call);
}

// Returns whether a backend's table splits the call over threads itself.
bool parallelizes_itself(const Runtime& runtime, const LinearCall& call) {
  const Kernels& kernels = *runtime.kernels;
  return kHasBackends && kernels.parallelizes_itself != nullptr && !call.view->fine_input &&
         kernels.parallelizes_itself(kernels.backend, runtime.tensor<uint8_t>(call.view->weights), call.view->n,
                                     call.rows);
}

void run_call(const Pass& pass, const FineCall& fine) {
  const LinearCall& call = fine.call;
  if (parallelizes_itself(pass.runtime, call)) return operations(pass.runtime).linear(pass.runtime, call);
  const LinearView& view = *call.view;
  const uint32_t n_groups = (view.n + kOutputsTogether - 1) / kOutputsTogether;
  const Split split = split_work(linear_macs(call.rows, view.n, view.k), n_groups, pass.n_tasks);
  if (split.n_tasks == 1) return run_one(pass.runtime, fine);
  run_pieces(pass.runtime, split, [&](uint32_t piece, uint32_t) {
    const Range groups = split.part_of(n_groups, piece);
    const uint32_t first = groups.first * kOutputsTogether, end = first + groups.count * kOutputsTogether;
    LinearView slice;
    run_one(pass.runtime, outputs_of(fine, first, smaller(end, view.n) - first, &slice));
  });
}

// The end of a call: activation(view(x)) + residual.
struct Finish {
  Activation activation;
  const float* residual;  // null: none; may be y
};

void multiply(const Pass& pass, const LinearView& view, const Finish& finish, float* y) {
  run_call(pass, {{&view, pass.inputs, pass.rows.count, finish.activation, finish.residual, y, view.n, pass.n_tasks > 1,
                   nullptr},
                  pass.fine.inputs,
                  pass.projected});
}

}  // namespace

Quantized quantize(const Pass& pass, const float* x, uint32_t k) {
  operations(pass.runtime).quantize(pass.runtime, x, pass.rows.count, k, pass.inputs);
  if (kHasRefined && pass.fine.inputs.rows != nullptr) {
    for (uint32_t row = 0; row < pass.rows.count; ++row) {
      quantize_remainder(pass.runtime, x + size_t{row} * k, k, row_of(pass.inputs, row, k),
                         {row_of(pass.fine.inputs, row, k), pass.fine.remainder});
    }
  }
  return {k};
}

void quantize_remainder(const Runtime& runtime, const float* x, uint32_t k, const LinearInputs& inputs,
                        const FineInputs& fine) {
  const int8_t* const q = static_cast<const int8_t*>(inputs.rows);
  const float scale = *inputs.scales;
  for (uint32_t i = 0; i < k; ++i) fine.remainder[i] = x[i] - static_cast<float>(q[i]) * scale;
  operations(runtime).quantize(runtime, fine.remainder, 1, k, fine.inputs);
}

void run_fine(const Runtime& runtime, const FineCall& fine) {
  static constexpr float kNoBias[kFineOutputs] = {};
  const uint32_t n = fine.call.view->n;
  for (uint32_t first = 0; first < n; first += kFineOutputs) {
    LinearView slice;
    FineCall part = outputs_of(fine, first, smaller(n - first, kFineOutputs), &slice);
    LinearCall& call = part.call;
    const float* const residual = call.residual;
    float* const y = call.y;
    const Activation activation = call.activation;
    call.y = residual == y ? part.products : y;  // y stays until its row is complete
    call.activation = Activation::kNone;
    call.residual = nullptr;
    call.bias = kNoBias;
    const LinearInputs inputs = call.x;
    call.x = part.fine;
    operations(runtime).linear(runtime, call);
    call.x = inputs;
    call.bias = nullptr;
    call.residual = call.y;
    operations(runtime).linear(runtime, call);
    for (uint32_t row = 0; row < call.rows; ++row) {
      const size_t at = row * call.y_stride;
      for (uint32_t j = 0; j < slice.n; ++j) {
        const float value = reference_activate(activation, call.y[at + j]);
        y[at + j] = residual != nullptr ? value + residual[at + j] : value;
      }
    }
  }
}

void multiply(const Pass& pass, const LinearView& view, Quantized, float* y) {
  multiply(pass, view, {Activation::kNone, nullptr}, y);
}

void multiply_activated(const Pass& pass, const LinearView& view, Activation activation, Quantized, float* y) {
  multiply(pass, view, {activation, nullptr}, y);
}

void multiply_gated(const Pass& pass, const LinearView& view, Activation activation, Quantized, float* y) {
  const uint32_t half = view.n / 2;
  const size_t n = size_t{pass.rows.count} * half;
  multiply(pass, slice_outputs(view, 0, half), {activation, nullptr}, y);
  multiply(pass, slice_outputs(view, half, half), {Activation::kNone, nullptr}, y + n);
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
