// SPDX-License-Identifier: Apache-2.0
// Implements goldcrest/xnnpack.h: counts the memory that a model needs and packs its weights.
#include "base/exact_floats.h"
#include "backends/xnnpack/parts.h"
#include "base/status.h"
#include "goldcrest/xnnpack.h"
#include "kernels/reference/reference.h"
#include "model/validate.h"

namespace goldcrest { namespace {
// rows [n, k] <- the int8 weights of `view`, row by row.
void unpack_rows(const void* file, const LinearView& view, int8_t* rows) {
  const int8_t* w = tensor<int8_t>(file, view.weights);
  for (uint32_t output = 0; output < view.n; ++output)
    for (uint32_t input = 0; input < view.k; ++input) *rows++ = w[weight_offset(view.layout, output, input, view.k)];
}

// Returns the bytes of a layer's weights row by row; 0 for float32 files, which store them in this order.
uint64_t row_bytes(const LinearView& view) {
  return view.weight_type == WeightType::kFloat32 ? 0 : align_bytes(uint64_t{view.n} * view.k);
}

goldcrest_xnnpack_memory memory_for(const void* file, const goldcrest_limits& limits) {
  const ModelView view = view_model(file);
  const Extent extent = extent_of(view);
  Space model_space(nullptr, 0), engine_space(nullptr, 0);
  lay_out_model(model_space, extent);
  lay_out_engine(engine_space, extent, limits);
  goldcrest_xnnpack_memory memory = {model_space.used_bytes(), 0, engine_space.used_bytes()};
  for_each_layer(view, [&](const LayerCall& call) {
    memory.weights_bytes += xnnpack::packed_bytes(layer_of(file, call, tensor<int8_t>(file, call.view.weights)));
    if (row_bytes(call.view) > memory.packing_bytes) memory.packing_bytes = row_bytes(call.view);
  });
  return memory;
}

// Packs all layers into the memory after the model's other parts.
int pack_layers(const goldcrest_xnnpack_config& config, const ModelParts& parts, goldcrest_detail* detail) {
  const XnnpackModel& model = *parts.model;
  int8_t* const rows = static_cast<int8_t*>(config.packing);
  size_t used_bytes = 0;
  uint32_t index = 0, n_failed = 0;
  for_each_layer(view_model(model.file), [&](const LayerCall& call) {
    if (n_failed == 0 && !call.is_float()) unpack_rows(model.file, call.view, rows);
    const bool packed = n_failed == 0 && xnnpack::pack(layer_of(model.file, call, rows), index, model.provider,
                                             model.weights, &used_bytes);
    if (!packed) ++n_failed;
    index += packed;
  });
  GOLDCREST_REQUIRE(n_failed == 0, GOLDCREST_ERROR_UNSUPPORTED, "xnnpack: a layer could not be packed; it is",
      static_cast<int32_t>(index));
  return GOLDCREST_OK;
}
}}  // namespace goldcrest

using namespace goldcrest;

int goldcrest_xnnpack_plan_memory(const void* model, size_t model_bytes, const goldcrest_limits* limits,
    goldcrest_xnnpack_memory* memory, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(memory != nullptr, GOLDCREST_ERROR_ARGUMENT, "memory: null", -1);
  goldcrest_memory arena;
  GOLDCREST_TRY(goldcrest_plan_memory(model, model_bytes, limits, &arena, nullptr, nullptr, detail));
  GOLDCREST_TRY(xnnpack::initialize(detail));
  *memory = memory_for(model, arena.limits);
  return GOLDCREST_OK;
}

int goldcrest_xnnpack_open(const goldcrest_backend** backend, const goldcrest_xnnpack_config* config) {
  if (backend == nullptr || config == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  *backend = nullptr;
  goldcrest_detail* detail = config->detail;
  const Kernels& native = *kernels_at(0);
  GOLDCREST_TRY(validate_model(
      config->model, config->model_bytes, {native.crc32c, native.weights_valid, native.float32 != nullptr}, detail));
  goldcrest_xnnpack_memory memory;
  GOLDCREST_TRY(goldcrest_xnnpack_plan_memory(config->model, config->model_bytes, nullptr, &memory, detail));
  GOLDCREST_REQUIRE(config->weights != nullptr && is_aligned(config->weights), GOLDCREST_ERROR_ARGUMENT,
      "weights: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config->weights_bytes >= memory.weights_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
      "weights: smaller than goldcrest_xnnpack_plan_memory says", byte_index(memory.weights_bytes));
  GOLDCREST_REQUIRE(memory.packing_bytes == 0 || (config->packing != nullptr && is_aligned(config->packing)),
      GOLDCREST_ERROR_ARGUMENT, "packing: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config->packing_bytes >= memory.packing_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
      "packing: smaller than goldcrest_xnnpack_plan_memory says", byte_index(memory.packing_bytes));

  const Extent extent = extent_of(view_model(config->model));
  Space space(config->weights, config->weights_bytes);
  const ModelParts parts = lay_out_model(space, extent);
  for (uint32_t i = 0; i < extent.n_layers; ++i) parts.offsets[i] = xnnpack::kNotPacked;
  *parts.model = {{prepare_engine}, config->model, config->model_bytes,
      {parts.packed, config->weights_bytes - static_cast<size_t>(space.used_bytes()), parts.offsets}, parts.provider};
  xnnpack::make_provider(parts.provider, &parts.model->weights);
  GOLDCREST_TRY(pack_layers(*config, parts, detail));
  *backend = &parts.model->backend;
  return GOLDCREST_OK;
}
