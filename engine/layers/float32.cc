// SPDX-License-Identifier: Apache-2.0
#include "layers/float32.h"

#include "kernels/reference/reference.h"

namespace goldcrest {

namespace {

const FloatKernels& kernels(const Runtime& runtime) { return *runtime.kernels->float32; }

float* as_floats(int8_t* elements) { return reinterpret_cast<float*>(elements); }

}  // namespace

void copy_inputs(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const RowScratch& scratch) {
  kernels(runtime).copy_rows({x, as_floats(scratch.inputs), n, n, rows, n});
}

void linear_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch, const LinearArgs& args) {
  LinearFloatArgs float_args = {};
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
  float_args.prepared = args.prepared;
  float_args.alone = args.alone;
  kernels(runtime).linear(float_args);
}

void output_block_float(const Runtime& runtime, const LinearView& view, const RowScratch& scratch,
                        const OutputBlockArgs& args) {
  linear_float(runtime, view, scratch, args.linear);
  if (args.block_max != nullptr) kernels(runtime).logit_sums(logit_sums_of(args));
}

void embed_row_float(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  const uint32_t n = stack.d_model_padded;
  kernels(runtime).embed({runtime.tensor<float>(stack.embedding.weights),
                          runtime.tensor<float>(stack.positions) + size_t{position} * n, x, token, n,
                          stack.embedding_scale});
}

void store_key_value_float(const Runtime& runtime, const StackView& stack, const float* key, const float* value,
                           size_t row, const KvCache& cache) {
  const uint32_t d_head = stack.d_head;
  const size_t first = row * d_head, head_stride = cache.rows * d_head;
  kernels(runtime).copy_rows({key, as_floats(cache.keys) + first, d_head, head_stride, stack.n_heads, d_head});
  kernels(runtime).copy_rows({value, as_floats(cache.values) + first, d_head, head_stride, stack.n_heads, d_head});
}

}  // namespace goldcrest
