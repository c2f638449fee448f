// SPDX-License-Identifier: Apache-2.0
// Each operation is written once, as a template over the element type. It makes the kernels' arguments from views,
// buffers and shapes.
#include "base/exact_floats.h"
#include "layers/operations.h"
#include <string.h>
#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
template <typename Element> constexpr bool kScaled = sizeof(Element) == 1;  // int8 has scales

template <typename Element> const TypedKernels<Element>& kernels_of(const Runtime& runtime);
template <> const TypedKernels<int8_t>& kernels_of<int8_t>(const Runtime& runtime) { return runtime.kernels->int8; }
template <> const TypedKernels<float>& kernels_of<float>(const Runtime& runtime) { return *runtime.kernels->float32; }

template <typename Element>
void quantize(const Runtime& runtime, const float* x, uint32_t rows, uint32_t n, const LinearInputs& inputs) {
  kernels_of<Element>(runtime).quantize_rows({x, static_cast<Element*>(inputs.rows), inputs.scales, n, n, 1, rows, n});
}

// Returns the arguments for n outputs, from `first` on, and the inputs x of some rows.
template <typename Element>
LinearArgs<Element> linear_args(
    const Runtime& runtime, const LinearTensors& tensors, Range outputs, const LinearInputs& x, uint32_t rows) {
  LinearArgs<Element> args = {};
  args.x = static_cast<const Element*>(x.rows);
  args.w = static_cast<const Element*>(tensors.weights);
  args.bias = tensors.bias + outputs.first;
  args.rows = rows;
  args.n = outputs.count;
  args.k = tensors.k;
  args.layout = tensors.layout;
  if constexpr (kScaled<Element>) {
    args.x_scale = x.scales;
    args.w_scale = tensors.scale;
    args.weight_sum = tensors.weight_sum;
    args.multipliers = tensors.is_packed() ? tensors.multipliers : nullptr;  // costs builds without them nothing
    skip_outputs(args, outputs.first);
  } else {
    args.w += size_t{outputs.first} * tensors.k;
  }
  args.backend = runtime.kernels->backend;
  return args;
}

// Returns the arguments of a call.
template <typename Element> LinearArgs<Element> args_of(const Runtime& runtime, const LinearCall& call) {
  const LinearTensors tensors = tensors_of(runtime, *call.view);
  LinearArgs<Element> args = linear_args<Element>(runtime, tensors, {0, tensors.n}, call.x, call.rows);
  args.residual = call.residual;
  args.y = call.y;
  args.y_stride = call.y_stride;
  args.activation = call.activation;
  args.is_only_task = call.is_only_task;
  return args;
}

// The remainders that a product has besides those of all inputs.
struct Remainders {
  bool fine_input = true;
  uint32_t rows_to_second = 0;
};

// Computes a product of int8 or of packed weights.
[[gnu::always_inline]] inline void run_product(const Kernels& kernels, const LinearArgs<int8_t>& args) {
  if (kExpandsPacked && args.multipliers != nullptr) return linear_packed(kernels, args);
  kernels.int8.linear(args);
}

// Returns whether the table computes a layer with fine inputs in one pass.
bool fits_one_pass(const Kernels& kernels, const LinearArgs<int8_t>& args) {
  return kHasOnePass && kernels.linear_fine != nullptr && args.multipliers == nullptr &&
         args.layout == Layout::kN16K4 && args.k <= kMostFineInputs;
}

// Computes args with remainders: in one pass if the table can, else in slices of as many outputs as the scratch has
// room for.
[[gnu::noinline]] void multiply_fine(const Kernels& kernels, const LinearArgs<int8_t>& args, const FineScratch& scratch,
    uint32_t task, const Remainders& remainders) {
  const bool only_inputs = remainders.fine_input && remainders.rows_to_second == 0;
  if (only_inputs && fits_one_pass(kernels, args)) return kernels.linear_fine(args);
  float* const values = scratch.values + task * scratch.n;
  const size_t room = scratch.n / (2 * size_t{args.rows} + 1) / 16 * 16;
  const uint32_t most = room < args.n ? static_cast<uint32_t>(room) : args.n;
  float* const products = values + most;
  memset(values, 0, most * sizeof(float));  // biases
  // The products of inputs and remainders, and the outputs that they become.
  LinearArgs<int8_t> both = args, slice = args;
  if (remainders.fine_input) both.rows = 2 * args.rows;
  both.bias = values;
  both.residual = nullptr;
  both.y = products;
  both.activation = Activation::kNone;
  for (uint32_t left = args.n; left > 0; left -= slice.n) {
    slice.n = smaller(left, most);
    both.n = slice.n;
    both.y_stride = slice.n;
    run_product(kernels, both);
    const size_t n_products = size_t{args.rows} * slice.n;
    if (!remainders.fine_input) memset(products + n_products, 0, n_products * sizeof(float));
    if (const uint32_t to_second = remainders.rows_to_second; to_second != 0) {  // adds to the first one's products
      skip_outputs(both, to_second);
      both.residual = products;
      kernels.int8.linear(both);
      both.w -= size_t{to_second} * both.k;
      both.w_scale -= to_second;
      both.weight_sum -= to_second;
      both.residual = nullptr;
    }
    kernels.finish_fine(slice, products);
    skip_outputs(both, slice.n);
    slice.bias += slice.n;
    slice.y += slice.n;
    if (slice.residual != nullptr) slice.residual += slice.n;
  }
}

template <typename Element>
void linear(const Runtime& runtime, const LinearCall& call, const FineScratch& fine, uint32_t task) {
  const LinearArgs<Element> args = args_of<Element>(runtime, call);
  if constexpr (kScaled<Element>) {
    const LinearView& view = *call.view;
    if (view.has_remainders() && fine.exists())
      return multiply_fine(*runtime.kernels, args, fine, task, {view.fine_input, view.rows_to_second()});
    run_product(*runtime.kernels, args);
  } else {
    kernels_of<Element>(runtime).linear(args);
  }
}

// Computes a block of fine or packed outputs, and then their sums.
[[gnu::noinline]] void output_block_in_parts(
    const Kernels& kernels, const OutputCall& call, const LinearArgs<int8_t>& args, const BlockSums& sums) {
  const LinearTensors& outputs = *call.outputs;
  if (call.inputs.fine.exists())
    multiply_fine(kernels, args, call.inputs.fine, call.task, {outputs.fine_input, outputs.rows_to_second()});
  else run_product(kernels, args);
  if (sums.largest == nullptr) return;
  kernels.logit_sums({args.y, sums.largest, sums.sum, kOutputBlock, sums.stride, call.rows, call.count});
}

template <typename Element> void output_block(const Runtime& runtime, const OutputCall& call, const BlockSums& sums) {
  const Range outputs = {call.first, pad16(call.count)};
  LinearArgs<Element> args = linear_args<Element>(runtime, *call.outputs, outputs, call.inputs.x, call.rows);
  args.y = call.logits;
  args.y_stride = kOutputBlock;
  args.activation = Activation::kNone;
  if constexpr (kSharesInputs) args.shared = call.shared;
  if constexpr (kScaled<Element>) {
    if (call.inputs.fine.exists() || call.outputs->is_packed())
      return output_block_in_parts(*runtime.kernels, call, args, sums);
  }
  kernels_of<Element>(runtime).output_block({args, call.count, sums.largest, sums.sum, sums.stride});
}

[[gnu::noinline]] void embed_from_packed(
    const Runtime& runtime, const StackView& stack, uint32_t token, const float* position, float* x) {
  const EmbeddingView& table = stack.embedding;
  const uint32_t n = pad16(table.vocab_size), k = stack.d_model_padded;
  const auto* const nibbles = runtime.tensor<uint8_t>(table.weights);
  const PackedMatrix matrix = {
      nibbles, reinterpret_cast<const int8_t*>(nibbles + nibble_bytes(n, k)), n, k, table.layout};
  const float scale = runtime.tensor<float>(table.scale)[token] * stack.embedding_scale;
  int8_t w[kPackedGroup];
  for (uint32_t i = 0; i < k; ++i) {
    if (i % kPackedGroup == 0) unpack_group(matrix, token, i / kPackedGroup, w);
    x[i] = static_cast<float>(w[i % kPackedGroup]) * scale + position[i];
  }
}

template <typename Element>
void embed(const Runtime& runtime, const StackView& stack, uint32_t token, uint32_t position, float* x) {
  const uint32_t n = stack.d_model_padded;
  const float* const positions =
      runtime.tensor<float>(stack.positions) + size_t{stack.positions_used ? position : 0} * n;
  if constexpr (kScaled<Element>) {
    if (stack.embedding.is_packed()) return embed_from_packed(runtime, stack, token, positions, x);
  }
  kernels_of<Element>(runtime).embed(
      {runtime.tensor<Element>(stack.embedding.weights), runtime.tensor<float>(stack.embedding.scale), positions, x,
          token, n, stack.embedding_scale, stack.embedding.layout});
  if constexpr (kScaled<Element>) {
    if (!runtime.model.refines_table(stack)) return;
    // Adds the row of the second matrix, as if the first one's were a position.
    kernels_of<Element>(runtime).embed(
        {runtime.tensor<Element>(stack.embedding.weights), runtime.tensor<float>(stack.embedding.scale), x, x,
            token + pad16(stack.embedding.vocab_size), n, stack.embedding_scale, stack.embedding.layout});
  }
}

// Returns the numbers of a head's row of keys or values.
template <typename Element> size_t numbers_of_row(const StackView& stack) {
  return kScaled<Element> && stack.has_fine_attention() ? size_t{2} * stack.d_head : stack.d_head;
}

// Returns the function that quantizes queries, keys and values.
template <typename Element> auto quantize_of(const Runtime& runtime, [[maybe_unused]] const StackView& stack) {
  if constexpr (kScaled<Element>) {
    if (stack.has_fine_attention()) return runtime.kernels->quantize_fine;
  }
  return kernels_of<Element>(runtime).quantize_rows;
}

template <typename Element>
void store(const Runtime& runtime, const StackView& stack, const NewKeys& keys, const KvCache& cache) {
  const uint32_t d_head = stack.d_head;
  const size_t row_elements = numbers_of_row<Element>(stack);
  const auto store_heads = [&](const float* heads, void* elements, float* scales) {
    quantize_of<Element>(runtime, stack)({heads, static_cast<Element*>(elements) + keys.row * row_elements,
        kScaled<Element> ? scales + keys.row : nullptr, d_head, cache.rows * row_elements, cache.rows, stack.n_heads,
        d_head});
  };
  store_heads(keys.key, cache.keys, cache.key_scales);
  store_heads(keys.value, cache.values, cache.value_scales);
}

template <typename Element>
void attend(const Runtime& runtime, const StackView& stack, const AttentionCall& call, const KvCache& cache) {
  const size_t first_column = size_t{call.heads.first} * stack.d_head;
  const size_t first_row = call.heads.first * cache.rows + call.first_key;
  const size_t first_element = first_row * numbers_of_row<Element>(stack);
  AttentionArgs<Element> args = {};
  args.q = call.query + first_column;
  args.q_stride = call.query_stride;
  args.keys = static_cast<const Element*>(cache.keys) + first_element;
  args.values = static_cast<const Element*>(cache.values) + first_element;
  if constexpr (kScaled<Element>) {
    args.key_scales = cache.key_scales + first_row;
    args.value_scales = cache.value_scales + first_row;
  }
  args.head_stride = cache.rows;
  args.position_stride = call.position_stride;
  args.to_next = call.to_next;
  args.ancestor = call.ancestor;
  args.ancestor_stride = call.ancestor_stride;
  if (call.bias != nullptr) args.bias = call.bias + call.heads.first * call.bias_stride;
  args.bias_stride = call.bias_stride;
  args.bias_step = call.bias_step;
  args.n_keys = call.n_keys;
  args.n_heads = call.heads.count;
  args.d_head = stack.d_head;
  args.scale = stack.attention_scale;
  args.rows = call.rows;
  args.out = call.out + first_column;
  args.out_stride = stack.attention_width();
  args.weights = call.weights;
  args.q_row = static_cast<Element*>(call.query_row);
  args.integer = stack.has_integer_attention();
  if constexpr (kScaled<Element>) {
    if (stack.has_fine_attention()) return runtime.kernels->fine_attention(args);
  }
  kernels_of<Element>(runtime).attention(args);
}

template <typename Element>
constexpr Operations kOperations = {
    quantize<Element>, linear<Element>, output_block<Element>, embed<Element>, store<Element>, attend<Element>};
}  // namespace

LinearTensors tensors_of(const Runtime& runtime, const LinearView& view) {
  return {runtime.tensor<uint8_t>(view.weights), runtime.tensor<float>(view.scale), runtime.tensor<float>(view.bias),
      runtime.tensor<int32_t>(view.weight_sum), view.n, view.k, view.weight_type, view.fine_input,
      view.panels_to_second, view.layout,
      view.is_packed() ? runtime.tensor<int8_t>(view.weights) + size_t{view.to_multipliers} * 16 : nullptr};
}

const Operations kInt8Operations = kOperations<int8_t>;
const Operations kFloat32Operations = kOperations<float>;
}  // namespace goldcrest
