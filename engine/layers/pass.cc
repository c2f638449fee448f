// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/pass.h"
#include "base/types.h"

namespace goldcrest {
namespace {
struct AddMatrices {
  BlockWidths widths;
  bool is_decoder;
  PassNeeds& needs;
  [[gnu::noinline]] void operator()(const MatrixEntry* matrices, size_t n_matrices) const {
    for (const MatrixEntry* matrix = matrices; matrix != matrices + n_matrices; ++matrix) {
      MatrixNeeds& of = is_decoder && !matrix->reads_source() ? needs.decoder : needs.encoder;
      const uint32_t k = pad16(matrix->k.in(widths)), n = pad16(matrix->n.in(widths));
      of.input = larger(of.input, k);
      of.output = larger(of.output, n);
      of.macs += uint64_t{n} * k;
    }
  }
};
}  // namespace

void add_layer(const LayerKind& kind, const StackView& stack, uint32_t source_d_model, PassNeeds& needs) {
  const AddMatrices add = {widths_of(stack, source_d_model), kind.is_decoder, needs};
  for_each_block([&](auto block) {
    if (block.belongs(kind)) add(block.kMatrices, count_of(block.kMatrices));
  });
}

PassRefs plan_pass(Plan& plan, const StackView& stack, const PassPlan& wanted) {
  const uint32_t width = stack.attention_width();
  PassRefs refs = {};
  refs.has_fine = wanted.has_fine;
  const auto products = static_cast<uint32_t>(products_of_rows(wanted.has_fine));
  refs.input_bytes = products * bytes_of(stack.input_type) * wanted.matrices.input;
  refs.projected_width = wanted.matrices.output;
  refs.attention_width = width;

  const auto add = [&](const char* name, const BufferSize& size) {
    return plan.add(name, wanted.phase, Region::kScratch, size);
  };
  const auto rows_of = [&](uint64_t bytes) { return BufferSize{0, bytes, {wanted.rows[0], wanted.rows[1], 0, 0}}; };
  refs.inputs = add("rows.inputs", rows_of(refs.input_bytes));
  if (stack.input_type == InputType::kInt8) refs.row_scales = add("rows.scales", rows_of(products * sizeof(float)));
  refs.projected = add("rows.wide", rows_of(sizeof(float) * uint64_t{refs.projected_width}));
  refs.attended = add("rows.attention_out", rows_of(sizeof(float) * uint64_t{width}));
  refs.attention_weights =
      add("rows.attention_weights", {0, sizeof(float), {wanted.keys, GOLDCREST_FACTOR_THREADS, 0, 0}});
  // A fine query has its high numbers twice (kernels/kernels.h).
  const uint32_t query_bytes = bytes_of(stack.cache_type) + (stack.has_fine_attention() ? 1u : 0u);
  refs.query_row = add("rows.query", {uint64_t{query_bytes} * stack.d_head, 0, {GOLDCREST_FACTOR_THREADS, 0, 0, 0}});
  if (kHasAccuracy && wanted.has_fine) {
    refs.products =
        add("rows.products", {sizeof(float) * uint64_t{wanted.matrices.input}, sizeof(float) * 2 * kFineOutputs,
                                 {wanted.rows[0], wanted.rows[1], GOLDCREST_FACTOR_THREADS, 0}});
  }
  return refs;
}

Pass make_pass(const Runtime& runtime, const StackView& stack, const PassRefs& refs, uint32_t first_row,
    const TaskRows& task_rows) {
  const size_t row = first_row;
  float* const scales =
      stack.input_type == InputType::kInt8
          ? runtime.buffer<float>(refs.row_scales) + row * static_cast<size_t>(products_of_rows(refs.has_fine))
          : nullptr;
  FineScratch fine = {};
  if (kHasAccuracy && refs.has_fine && !runtime.model.coarse) {
    fine = {runtime.task_buffer<float>(refs.products, task_rows.task),
        refs.products.task_stride * (size_t{kAlignment} / sizeof(float))};
  }
  return {runtime, stack, task_rows.rows, task_rows.n_tasks,
      {runtime.buffer<uint8_t>(refs.inputs) + row * refs.input_bytes, scales},
      runtime.buffer<float>(refs.projected) + row * refs.projected_width,
      runtime.buffer<float>(refs.attended) + row * refs.attention_width,
      runtime.task_buffer<float>(refs.attention_weights, task_rows.task),
      runtime.task_buffer<uint8_t>(refs.query_row, task_rows.task),
      size_t{refs.attention_weights.task_stride} * size_t{kAlignment} / sizeof(float),
      size_t{refs.query_row.task_stride} * size_t{kAlignment}, fine};
}
}  // namespace goldcrest
