// SPDX-License-Identifier: Apache-2.0
// Makes the objects that goldcrest_init asks the backend for: XNNPACK's operators for every linear layer of an engine,
// and the engine's kernel table.
#include "base/exact_floats.h"
#include <cstring>
#include <new>
#include "backends/xnnpack/choice.h"
#include "backends/xnnpack/parts.h"
#include "base/status.h"
#include "goldcrest/xnnpack.h"

namespace goldcrest {
namespace {
// Returns the arguments of a call of the layer over the trial's rows.
template <typename Element>
LinearArgs<Element> trial_args(const void* file, const LayerCall& call, const EngineParts& parts) {
  LinearArgs<Element> args = {};
  args.x = reinterpret_cast<const Element*>(parts.trial.x);
  args.x_scale = parts.trial.scales;
  args.w = tensor<Element>(file, call.view.weights);
  args.w_scale = tensor<float>(file, call.view.scale);
  args.bias = tensor<float>(file, call.view.bias);
  args.weight_sum = tensor<int32_t>(file, call.view.weight_sum);
  args.y = parts.trial.y;
  args.y_stride = call.y_stride;
  args.rows = parts.trial.rows;
  args.n = call.view.n;
  args.k = call.view.k;
  args.layout = call.view.layout;
  args.activation = call.relu ? Activation::kRelu : Activation::kNone;
  args.backend = parts.engine;
  return args;
}

// Returns XnnpackLayer.row_classes, by measurement.
uint32_t measure(const void* file, const LayerCall& call, const EngineParts& parts) {
  const XnnpackEngine& engine = *parts.engine;
  return call.is_float()
             ? faster_row_classes(engine.float_table, *engine.native->float32, trial_args<float>(file, call, parts))
             : faster_row_classes(engine.table.int8, engine.native->int8, trial_args<int8_t>(file, call, parts));
}

// Computes one row, so that XNNPACK refuses a layer now rather than in a search.
bool try_operator(const LayerCall& call, const EngineParts& parts, xnnpack::Operator& op) {
  for (uint32_t i = 0; i <= xnnpack::kExtraRowScales; ++i) parts.scales[i] = {0, 0.0f};
  if (call.is_float())
    return xnnpack::run_float(op, reinterpret_cast<const float*>(parts.trial.x), 1, parts.trial.y, nullptr);
  return xnnpack::run_int8(op, reinterpret_cast<const int8_t*>(parts.trial.x), parts.scales, 1, parts.trial.y, nullptr);
}

// Makes the operators of layer `index`, one for each lane.
bool make_layer(const XnnpackModel& model, const LayerCall& call, uint32_t index, const EngineParts& parts,
    xnnpack::Region* region) {
  const uint32_t n_lanes = parts.engine->n_lanes;
  xnnpack::Operator* const operators = parts.operators + size_t{index} * n_lanes;
  parts.layers[index] = {weights_of(model.file, call), call.view.n, kAllRowClasses, call.relu, operators};
  const xnnpack::Layer layer = layer_of(model.file, call, tensor<int8_t>(model.file, call.view.weights));
  for (uint32_t lane = 0; lane < n_lanes; ++lane) {
    if (!xnnpack::make_operator(layer, index, model.provider, model.weights, region, &operators[lane])) return false;
    if (!try_operator(call, parts, operators[lane])) return false;
  }
  return true;
}

// Chooses the row classes of all layers, which must be sorted. Measures each shape once: layers of one shape are
// equally fast.
void choose_layers(const XnnpackModel& model, const ModelView& view, const EngineParts& parts) {
  struct Shape {
    uint32_t n, k, classes;
  };
  constexpr uint32_t kMaxShapes = 32;
  Shape shapes[kMaxShapes];
  uint32_t n_shapes = 0;
  for_each_layer(view, [&](const LayerCall& call) {
    uint32_t at = 0;
    while (at < n_shapes && (shapes[at].n != call.view.n || shapes[at].k != call.view.k)) ++at;
    const uint32_t classes = at < n_shapes ? shapes[at].classes : measure(model.file, call, parts);
    if (at == n_shapes && n_shapes < kMaxShapes) shapes[n_shapes++] = {call.view.n, call.view.k, classes};
    find_layer(*parts.engine, weights_of(model.file, call), call.view.n)->row_classes = classes;
  });
}

void start_lanes(const EngineParts& parts, const Extent& extent) {
  XnnpackEngine& engine = *parts.engine;
  for (uint32_t i = 0; i < engine.n_lanes; ++i) {
    // Placement new, because an atomic must be constructed; it allocates nothing.
    XnnpackLane* const lane = new (&engine.lanes[i]) XnnpackLane;
    lane->taken = false;
    lane->scales = parts.scales + i * parts.scales_stride;
    lane->sums = parts.sums + size_t{i} * kResidualRows * extent.widest_residual;
  }
}
}  // namespace

int prepare_engine(
    const goldcrest_backend& backend, const PrepareArgs& args, const Kernels** kernels, goldcrest_detail* detail) {
  const XnnpackModel& model = reinterpret_cast<const XnnpackModel&>(backend);
  GOLDCREST_REQUIRE(args.model == model.file && args.model_bytes == model.file_bytes, GOLDCREST_ERROR_ARGUMENT,
      "backend: opened for another model", -1);
  GOLDCREST_REQUIRE(args.memory != nullptr && is_aligned(args.memory), GOLDCREST_ERROR_ARGUMENT,
      "backend_memory: null or not aligned to 64 bytes", -1);
  const ModelView view = view_model(model.file);
  const Extent extent = extent_of(view);
  Space space(args.memory, args.memory_bytes);
  const EngineParts parts = lay_out_engine(space, extent, *args.limits);
  GOLDCREST_REQUIRE(!space.overflowed(), GOLDCREST_ERROR_ARENA_TOO_SMALL,
      "backend_memory: smaller than goldcrest_xnnpack_plan_memory says", byte_index(space.used_bytes()));
  memset(args.memory, 0, static_cast<size_t>(space.used_bytes()));
  XnnpackEngine& engine = *parts.engine;
  engine.native = args.native;
  engine.threads = args.parallel_for == goldcrest_xnnpack_parallel_for ? args.parallel_context : nullptr;
  engine.lanes = parts.lanes;
  engine.n_lanes = args.limits->threads;
  engine.layers = parts.layers;
  engine.n_layers = extent.n_layers;
  make_xnnpack_table(args.use == BackendUse::kAll ? "xnnpack" : "fastest", &engine);
  start_lanes(parts, extent);

  xnnpack::Region region = {parts.objects, parts.objects + parts.objects_bytes};
  uint32_t index = 0, n_failed = 0;
  for_each_layer(view, [&](const LayerCall& call) {
    if (n_failed > 0 || !make_layer(model, call, index++, parts, &region)) ++n_failed;
  });
  GOLDCREST_REQUIRE(n_failed == 0, GOLDCREST_ERROR_UNSUPPORTED, "xnnpack: an operator could not be made; its layer is",
      static_cast<int32_t>(extent.n_layers - n_failed));
  sort_layers(&engine);
  if (args.use == BackendUse::kWhereFaster) choose_layers(model, view, parts);
  *kernels = &engine.table;
  return GOLDCREST_OK;
}
}  // namespace goldcrest
