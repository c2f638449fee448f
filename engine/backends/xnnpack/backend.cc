// SPDX-License-Identifier: Apache-2.0
// The backend of goldcrest/xnnpack.h: which layers there are, where their objects lie in the caller's memory, and how
// they are made. What XNNPACK needs for a model lies in its `weights` memory, what it needs for an engine in
// `backend_memory`.
#include <cstring>
#include <new>

#include "backends/xnnpack/adapter.h"
#include "backends/xnnpack/choice.h"
#include "backends/xnnpack/table.h"
#include "base/align.h"
#include "base/status.h"
#include "goldcrest/xnnpack.h"
#include "kernels/reference/reference.h"
#include "layers/linear.h"
#include "model/validate.h"

namespace goldcrest {

namespace {

// One linear layer as the engine calls it.
struct LayerUse {
  LinearView view;
  uint32_t y_stride;
  bool relu, residual;
};

uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

bool is_float(const LinearView& view) { return view.weight_type == WeightType::kFloat32; }

// visit(LayerUse) for every linear layer that encoder.cc, decoder.cc and search.cc compute.
template <typename Visit>
void for_each_layer(const void* file, const ModelView& model, const Visit& visit) {
  const auto plain = [&](const LinearView& view) { visit(LayerUse{view, view.n, false, false}); };
  const auto out = [&](const LinearView& view) { visit(LayerUse{view, view.n, false, true}); };
  const auto feed_forward = [&](const StackView& stack, const FeedForwardView& layer) {
    visit(LayerUse{layer.in, layer.in.n, stack.activation == Activation::kRelu, false});
    out(layer.out);
  };
  const uint32_t width = model.encoder.attention_width();
  for (uint32_t i = 0; i < model.encoder.n_layers; ++i) {
    const EncoderLayerView layer = view_encoder_layer(file, i);
    plain(slice_outputs(layer.self_attention.query_key_value, 0, width));
    plain(slice_outputs(layer.self_attention.query_key_value, width, 2 * width));
    out(layer.self_attention.out);
    feed_forward(model.encoder, layer.feed_forward);
  }
  for (uint32_t i = 0; i < model.decoder.n_layers; ++i) {
    const DecoderLayerView layer = view_decoder_layer(file, i);
    plain(layer.self_attention.query_key_value);
    out(layer.self_attention.out);
    plain(layer.cross_attention.query);
    plain(layer.cross_attention.key_value);
    out(layer.cross_attention.out);
    feed_forward(model.decoder, layer.feed_forward);
  }
  for (uint32_t first = 0; first < model.vocab_size; first += kOutputBlock) {
    const uint32_t left = pad16(model.vocab_size - first);
    const LinearView block = slice_outputs(model.projection, first, left < kOutputBlock ? left : kOutputBlock);
    visit(LayerUse{block, kOutputBlock, false, false});
  }
}

// What a model's layers are at most.
struct Extent {
  uint32_t n_layers = 0, widest_input = 0, widest_output = 0, widest_residual = 0;
  bool is_float = false;
};

Extent extent_of(const void* file, const ModelView& model) {
  Extent extent;
  for_each_layer(file, model, [&](const LayerUse& use) {
    ++extent.n_layers;
    extent.widest_input = larger(extent.widest_input, use.view.k);
    extent.widest_output = larger(extent.widest_output, use.y_stride);
    if (use.residual) extent.widest_residual = larger(extent.widest_residual, use.view.n);
    extent.is_float = is_float(use.view);
  });
  return extent;
}

template <typename T>
const T* tensor(const void* file, uint32_t units) {
  return reinterpret_cast<const T*>(static_cast<const uint8_t*>(file) + size_t{units} * kAlignment);
}

// rows: the weights row by row [n, k], where they are wanted and the file has them otherwise.
xnnpack::Layer layer_of(const void* file, const LayerUse& use, const int8_t* rows) {
  xnnpack::Layer layer = {};
  layer.n = use.view.n;
  layer.k = use.view.k;
  layer.output_stride = use.y_stride;
  layer.int8_weights = rows;
  if (is_float(use.view)) layer.float_weights = tensor<float>(file, use.view.weights);
  layer.scale = tensor<float>(file, use.view.scale);
  layer.bias = tensor<float>(file, use.view.bias);
  layer.relu = use.relu;
  return layer;
}

// Takes arrays from a block of memory one after another. Without memory it only counts.
class Space {
 public:
  Space(void* memory, size_t n_bytes) : memory_(static_cast<uint8_t*>(memory)), n_bytes_(n_bytes) {}

  template <typename T>
  T* take(size_t n) {
    uint8_t* const start = memory_ + used_bytes_;
    used_bytes_ += align_bytes(uint64_t{n} * sizeof(T));
    return memory_ != nullptr ? reinterpret_cast<T*>(start) : nullptr;
  }
  uint64_t used_bytes() const { return used_bytes_; }
  bool overflowed() const { return used_bytes_ > n_bytes_; }

 private:
  uint8_t* memory_;
  uint64_t n_bytes_, used_bytes_ = 0;
};

// The object that goldcrest_xnnpack_open places at the start of `weights`.
struct XnnpackModel {
  goldcrest_backend backend;
  const void* file;
  size_t file_bytes;
  xnnpack::PackedWeights weights;
  void* provider;
};

struct ModelParts {
  XnnpackModel* model;
  uint8_t* provider;
  size_t* offsets;
  uint8_t* packed;  // [the rest]
};

ModelParts lay_out_model(Space& space, const Extent& extent) {
  ModelParts parts;
  parts.model = space.take<XnnpackModel>(1);
  parts.provider = space.take<uint8_t>(xnnpack::provider_bytes());
  parts.offsets = space.take<size_t>(extent.n_layers);
  parts.packed = space.take<uint8_t>(0);
  return parts;
}

// Room to compute a layer with rows of zeros.
struct Trial {
  uint8_t* x;  // [rows, widest input] and what XNNPACK reads behind it
  float* scales;
  float* y;
  uint32_t rows;
};

struct EngineParts {
  XnnpackEngine* engine;
  PreparedLayer* prepared;
  XnnpackLayer* layers;
  xnnpack::Operator* operators;  // [layers, lanes]
  XnnpackLane* lanes;
  xnnpack::RowScale* scales;  // [lanes, scales_stride]
  float* sums;                // [lanes, kResidualRows, widest residual]
  Trial trial;
  uint8_t* objects;  // XNNPACK's, [layers, lanes] of operator_bytes
  size_t scales_stride, objects_bytes;
};

EngineParts lay_out_engine(Space& space, const Extent& extent, const goldcrest_limits& limits) {
  const uint32_t lanes = limits.threads, rows = larger(limits.encoder_rows, limits.beam_size * limits.batch);
  EngineParts parts;
  parts.scales_stride = rows + xnnpack::kExtraRowScales;
  parts.engine = space.take<XnnpackEngine>(1);
  parts.prepared = space.take<PreparedLayer>(extent.n_layers);
  parts.layers = space.take<XnnpackLayer>(extent.n_layers);
  parts.operators = space.take<xnnpack::Operator>(size_t{extent.n_layers} * lanes);
  parts.lanes = space.take<XnnpackLane>(lanes);
  parts.scales = space.take<xnnpack::RowScale>(lanes * parts.scales_stride);
  parts.sums = space.take<float>(size_t{lanes} * kResidualRows * extent.widest_residual);
  parts.trial.rows = rows < kMostTrialRows ? rows : kMostTrialRows;
  const size_t input_bytes = extent.is_float ? sizeof(float) : 1;
  parts.trial.x = space.take<uint8_t>(parts.trial.rows * extent.widest_input * input_bytes + kAlignment);
  parts.trial.scales = space.take<float>(parts.trial.rows);
  parts.trial.y = space.take<float>(size_t{parts.trial.rows} * extent.widest_output);
  parts.objects_bytes = size_t{extent.n_layers} * lanes * xnnpack::operator_bytes(extent.is_float);
  parts.objects = space.take<uint8_t>(parts.objects_bytes);
  return parts;
}

LinearArgs<int8_t> trial_args(const void* file, const LayerUse& use, const Trial& trial) {
  LinearArgs<int8_t> args = {};
  args.x = reinterpret_cast<const int8_t*>(trial.x);
  args.x_scale = trial.scales;
  args.w = tensor<int8_t>(file, use.view.weights);
  args.w_scale = tensor<float>(file, use.view.scale);
  args.bias = tensor<float>(file, use.view.bias);
  args.weight_sum = tensor<int32_t>(file, use.view.weight_sum);
  args.y = trial.y;
  args.y_stride = use.y_stride;
  args.rows = trial.rows;
  args.n = use.view.n;
  args.k = use.view.k;
  args.layout = use.view.layout;
  args.activation = use.relu ? Activation::kRelu : Activation::kNone;
  return args;
}

LinearArgs<float> trial_float_args(const void* file, const LayerUse& use, const Trial& trial) {
  LinearArgs<float> args = {};
  args.x = reinterpret_cast<const float*>(trial.x);
  args.w = tensor<float>(file, use.view.weights);
  args.bias = tensor<float>(file, use.view.bias);
  args.y = trial.y;
  args.y_stride = use.y_stride;
  args.rows = trial.rows;
  args.n = use.view.n;
  args.k = use.view.k;
  args.activation = use.relu ? Activation::kRelu : Activation::kNone;
  return args;
}

// PreparedLayer.row_classes by a measurement.
uint32_t measure(const void* file, const LayerUse& use, const Trial& trial, const PreparedLayer& layer) {
  const XnnpackEngine& engine = *static_cast<const XnnpackLayer*>(layer.object)->engine;
  if (is_float(use.view)) {
    LinearArgs<float> args = trial_float_args(file, use, trial);
    args.prepared = &layer;
    return faster_row_classes(engine.float_table, *engine.native->float32, args);
  }
  LinearArgs<int8_t> args = trial_args(file, use, trial);
  args.prepared = &layer;
  return faster_row_classes(engine.table, *engine.native, args);
}

// Computes one row, so that what XNNPACK might refuse it refuses now.
bool try_operator(const LayerUse& use, const EngineParts& parts, xnnpack::Operator& op) {
  for (uint32_t i = 0; i <= xnnpack::kExtraRowScales; ++i) parts.scales[i] = {0, 0.0f};
  if (is_float(use.view)) {
    return xnnpack::run_float(op, reinterpret_cast<const float*>(parts.trial.x), 1, parts.trial.y, nullptr);
  }
  return xnnpack::run_int8(op, reinterpret_cast<const int8_t*>(parts.trial.x), parts.scales, 1, parts.trial.y, nullptr);
}

// The operators of layer `index`, one for each lane.
bool make_layer(const XnnpackModel& model, const LayerUse& use, uint32_t index, const EngineParts& parts,
                xnnpack::Region* region) {
  const uint32_t n_lanes = parts.engine->n_lanes;
  xnnpack::Operator* const operators = parts.operators + size_t{index} * n_lanes;
  parts.layers[index] = {parts.engine, operators, use.relu};
  parts.prepared[index] = {use.view.weights, use.view.n, (1u << kRowClasses) - 1, &parts.layers[index]};
  // The matrix is packed: XNNPACK only asks that there be one.
  const xnnpack::Layer layer = layer_of(model.file, use, tensor<int8_t>(model.file, use.view.weights));
  for (uint32_t lane = 0; lane < n_lanes; ++lane) {
    if (!xnnpack::make_operator(layer, index, model.provider, model.weights, region, &operators[lane])) return false;
    if (!try_operator(use, parts, operators[lane])) return false;
  }
  return true;
}

// Row classes for all layers; those of one shape are alike.
void choose_layers(const XnnpackModel& model, const ModelView& view, const EngineParts& parts) {
  struct Shape {
    uint32_t n, k, classes;
  };
  constexpr uint32_t kMostShapes = 32;
  Shape shapes[kMostShapes];
  uint32_t n_shapes = 0, index = 0;
  for_each_layer(model.file, view, [&](const LayerUse& use) {
    uint32_t at = 0;
    while (at < n_shapes && (shapes[at].n != use.view.n || shapes[at].k != use.view.k)) ++at;
    PreparedLayer& layer = parts.prepared[index++];
    const uint32_t classes = at < n_shapes ? shapes[at].classes : measure(model.file, use, parts.trial, layer);
    if (at == n_shapes && n_shapes < kMostShapes) shapes[n_shapes++] = {use.view.n, use.view.k, classes};
    layer.row_classes = classes;
  });
}

bool comes_before(const PreparedLayer& a, const PreparedLayer& b) {
  return a.weights < b.weights || (a.weights == b.weights && a.n < b.n);
}

void sort_layers(PreparedLayer* layers, uint32_t n_layers) {
  for (uint32_t i = 1; i < n_layers; ++i) {
    const PreparedLayer layer = layers[i];
    uint32_t at = i;
    for (; at > 0 && comes_before(layer, layers[at - 1]); --at) layers[at] = layers[at - 1];
    layers[at] = layer;
  }
}

void start_lanes(const EngineParts& parts, const Extent& extent) {
  XnnpackEngine& engine = *parts.engine;
  for (uint32_t i = 0; i < engine.n_lanes; ++i) {
    // In the caller's memory: an atomic must be constructed, and nothing is allocated.
    XnnpackLane* const lane = new (&engine.lanes[i]) XnnpackLane;
    lane->taken = false;
    lane->scales = parts.scales + i * parts.scales_stride;
    lane->sums = parts.sums + size_t{i} * kResidualRows * extent.widest_residual;
  }
}

int prepare(const goldcrest_backend& backend, const PrepareArgs& args, Prepared* prepared, goldcrest_detail* detail) {
  const XnnpackModel& model = reinterpret_cast<const XnnpackModel&>(backend);
  GOLDCREST_REQUIRE(args.model == model.file && args.model_bytes == model.file_bytes, GOLDCREST_ERROR_ARGUMENT,
                    "backend: opened for another model", -1);
  GOLDCREST_REQUIRE(args.memory != nullptr && is_aligned(args.memory), GOLDCREST_ERROR_ARGUMENT,
                    "backend_memory: null or not aligned to 64 bytes", -1);
  const ModelView view = view_model(model.file);
  const Extent extent = extent_of(model.file, view);
  Space space(args.memory, args.memory_bytes);
  const EngineParts parts = lay_out_engine(space, extent, *args.limits);
  GOLDCREST_REQUIRE(!space.overflowed(), GOLDCREST_ERROR_ARENA_TOO_SMALL,
                    "backend_memory: smaller than goldcrest_xnnpack_plan_memory says", -1);
  memset(args.memory, 0, static_cast<size_t>(space.used_bytes()));
  XnnpackEngine& engine = *parts.engine;
  engine.native = args.native;
  engine.threads = args.parallel_for == goldcrest_xnnpack_parallel_for ? args.parallel_context : nullptr;
  engine.lanes = parts.lanes;
  engine.n_lanes = args.limits->threads;
  make_xnnpack_table(args.use == BackendUse::kAll ? "xnnpack" : "fastest", &engine);
  start_lanes(parts, extent);

  xnnpack::Region region = {parts.objects, parts.objects + parts.objects_bytes};
  uint32_t index = 0, n_failed = 0;
  for_each_layer(model.file, view, [&](const LayerUse& use) {
    if (n_failed > 0 || !make_layer(model, use, index++, parts, &region)) ++n_failed;
  });
  GOLDCREST_REQUIRE(n_failed == 0, GOLDCREST_ERROR_UNSUPPORTED, "xnnpack: an operator could not be made; its layer is",
                    static_cast<int32_t>(extent.n_layers - n_failed));
  if (args.use == BackendUse::kWhereFaster) choose_layers(model, view, parts);
  sort_layers(parts.prepared, extent.n_layers);
  *prepared = {&engine.table, parts.prepared, extent.n_layers};
  return GOLDCREST_OK;
}

// int8 weights of `view`, row by row.
void unpack_rows(const void* file, const LinearView& view, int8_t* rows) {
  const int8_t* w = tensor<int8_t>(file, view.weights);
  for (uint32_t output = 0; output < view.n; ++output) {
    for (uint32_t input = 0; input < view.k; ++input) {
      *rows++ = w[weight_offset(view.layout, output, input, view.k)];
    }
  }
}

// Bytes of one layer row by row; float32 files have them so.
uint64_t row_bytes(const LinearView& view) { return is_float(view) ? 0 : align_bytes(uint64_t{view.n} * view.k); }

goldcrest_xnnpack_memory memory_for(const void* file, const goldcrest_limits& limits) {
  const ModelView view = view_model(file);
  const Extent extent = extent_of(file, view);
  Space model_space(nullptr, 0), engine_space(nullptr, 0);
  lay_out_model(model_space, extent);
  lay_out_engine(engine_space, extent, limits);
  goldcrest_xnnpack_memory memory = {model_space.used_bytes(), 0, engine_space.used_bytes()};
  for_each_layer(file, view, [&](const LayerUse& use) {
    memory.weights_bytes += xnnpack::packed_bytes(layer_of(file, use, tensor<int8_t>(file, use.view.weights)));
    if (row_bytes(use.view) > memory.packing_bytes) memory.packing_bytes = row_bytes(use.view);
  });
  return memory;
}

// Packs all layers behind the model's parts.
int pack_layers(const goldcrest_xnnpack_config& config, const ModelParts& parts, goldcrest_detail* detail) {
  const XnnpackModel& model = *parts.model;
  int8_t* const rows = static_cast<int8_t*>(config.packing);
  size_t used_bytes = 0;
  uint32_t index = 0, n_failed = 0;
  for_each_layer(model.file, view_model(model.file), [&](const LayerUse& use) {
    if (n_failed == 0 && !is_float(use.view)) unpack_rows(model.file, use.view, rows);
    const bool packed = n_failed == 0 && xnnpack::pack(layer_of(model.file, use, rows), index, model.provider,
                                                       model.weights, &used_bytes);
    if (!packed) ++n_failed;
    index += packed;
  });
  GOLDCREST_REQUIRE(n_failed == 0, GOLDCREST_ERROR_UNSUPPORTED, "xnnpack: a layer could not be packed; it is",
                    static_cast<int32_t>(index));
  return GOLDCREST_OK;
}

}  // namespace

}  // namespace goldcrest

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
  GOLDCREST_TRY(validate_model(config->model, config->model_bytes,
                               {native.crc32c, native.weights_valid, native.float32 != nullptr}, detail));
  goldcrest_xnnpack_memory memory;
  GOLDCREST_TRY(goldcrest_xnnpack_plan_memory(config->model, config->model_bytes, nullptr, &memory, detail));
  GOLDCREST_REQUIRE(config->weights != nullptr && is_aligned(config->weights), GOLDCREST_ERROR_ARGUMENT,
                    "weights: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config->weights_bytes >= memory.weights_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
                    "weights: smaller than goldcrest_xnnpack_plan_memory says", -1);
  GOLDCREST_REQUIRE(memory.packing_bytes == 0 || (config->packing != nullptr && is_aligned(config->packing)),
                    GOLDCREST_ERROR_ARGUMENT, "packing: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config->packing_bytes >= memory.packing_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
                    "packing: smaller than goldcrest_xnnpack_plan_memory says", -1);

  const Extent extent = extent_of(config->model, view_model(config->model));
  Space space(config->weights, config->weights_bytes);
  const ModelParts parts = lay_out_model(space, extent);
  for (uint32_t i = 0; i < extent.n_layers; ++i) parts.offsets[i] = xnnpack::kNotPacked;
  *parts.model = {{prepare},
                  config->model,
                  config->model_bytes,
                  {parts.packed, config->weights_bytes - static_cast<size_t>(space.used_bytes()), parts.offsets},
                  parts.provider};
  xnnpack::make_provider(parts.provider, &parts.model->weights);
  GOLDCREST_TRY(pack_layers(*config, parts, detail));
  *backend = &parts.model->backend;
  return GOLDCREST_OK;
}
