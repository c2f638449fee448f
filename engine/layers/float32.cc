// SPDX-License-Identifier: Apache-2.0
#include "layers/float32.h"

namespace goldcrest {

namespace {

const TypedKernels<float>& kernels(const Runtime& runtime) { return *runtime.kernels->float32; }

float* as_floats(int8_t* elements) { return reinterpret_cast<float*>(elements); }

}  // namespace

void copy_inputs(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch) {
  kernels(runtime).quantize_rows({x, as_floats(scratch.inputs), nullptr, n, n, 0, rows, n});
}

namespace {

LinearArgs<float> float_args_of(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                                const LinearArgs<int8_t>& args) {
  LinearArgs<float> float_args = {};
  float_args.layout = Layout::kRowMajor;
  float_args.x = as_floats(scratch.inputs);
  float_args.w = runtime.tensor<float>(view.weights);
  float_args.bias = runtime.tensor<float>(view.bias);
  float_args.residual = args.residual;
  float_args.y = args.y;
  float_args.y_stride = args.y_stride;
  float_args.rows = args.rows;
  float_args.n = view.n;
  float_args.k = view.k;
  float_args.activation = args.activation;
  float_args.backend = args.backend;
  float_args.alone = args.alone;
  return float_args;
}

}  // namespace

void linear_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                  const LinearArgs<int8_t>& args) {
  kernels(runtime).linear(float_args_of(runtime, view, scratch, args));
}

void output_block_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                        const OutputBlockArgs<int8_t>& args) {
  kernels(runtime).output_block(
      {float_args_of(runtime, view, scratch, args.linear), args.count, args.block_max, args.block_sum, args.stride});
}

void embed_row_float(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  const uint32_t n = stack.d_model_padded;
  kernels(runtime).embed({runtime.tensor<float>(stack.embedding.weights), nullptr,
                          runtime.tensor<float>(stack.positions) + size_t{position} * n, x, token, n,
                          stack.embedding_scale, Layout::kRowMajor});
}

void store_key_value_float(const Runtime& runtime, const StackView& stack, const float* key, const float* value,
                           size_t row, const KvCache& cache) {
  const uint32_t d_head = stack.d_head;
  const size_t first = row * d_head, head_stride = cache.rows * d_head;
  kernels(runtime).quantize_rows(
      {key, as_floats(cache.keys) + first, nullptr, d_head, head_stride, 0, stack.n_heads, d_head});
  kernels(runtime).quantize_rows(
      {value, as_floats(cache.values) + first, nullptr, d_head, head_stride, 0, stack.n_heads, d_head});
}

}  // namespace goldcrest
