// SPDX-License-Identifier: Apache-2.0
// The kernel table `xnnpack`. XNNPACK computes a layer's scaled sums and bias. The native table adds the rest
// (activation, residual, a block's log-sum-exp): its linear layer over no inputs does exactly this.
#include "base/exact_floats.h"
#include "backends/xnnpack/table.h"

namespace goldcrest {
namespace {
// Holds a lane of the engine for a scope. One is always free, because there are as many lanes as tasks.
class TakenLane {
 public:
  explicit TakenLane(const XnnpackEngine& engine) {
    while (engine.lanes[index_].taken.exchange(true, std::memory_order_acquire)) index_ = (index_ + 1) % engine.n_lanes;
    lane_ = &engine.lanes[index_];
  }
  ~TakenLane() { lane_->taken.store(false, std::memory_order_release); }
  TakenLane(const TakenLane&) = delete;
  TakenLane& operator=(const TakenLane&) = delete;

  uint32_t index() const { return index_; }
  const XnnpackLane& operator*() const { return *lane_; }
 private:
  uint32_t index_ = 0;
  XnnpackLane* lane_;
};

template <typename Element> const XnnpackEngine& engine_of(const LinearArgs<Element>& args) {
  return *static_cast<const XnnpackEngine*>(args.backend);
}

// Returns whether layer `a` comes before the layer with weights w and n outputs.
bool comes_before(const XnnpackLayer& a, const void* w, uint32_t n) {
  const uintptr_t a_at = reinterpret_cast<uintptr_t>(a.w), at = reinterpret_cast<uintptr_t>(w);
  return a_at < at || (a_at == at && a.n < n);
}

// Returns the layer through which XNNPACK computes n outputs of the weights w for this many rows; null: the native
// table computes them.
const XnnpackLayer* layer_for(const XnnpackEngine& engine, const void* w, uint32_t n, uint32_t rows) {
  const XnnpackLayer* layer = find_layer(engine, w, n);
  return layer != nullptr && layer->computes(rows) ? layer : nullptr;
}

bool parallelizes_itself(const void* backend, const void* w, uint32_t n, uint32_t rows) {
  return layer_for(*static_cast<const XnnpackEngine*>(backend), w, n, rows) != nullptr;
}

// Returns the arguments of rows [first, first + count).
LinearArgs<float> rows_of(const LinearArgs<float>& args, uint32_t first, uint32_t count) {
  LinearArgs<float> part = args;
  part.x += size_t{first} * args.k;
  part.residual += args.residual != nullptr ? first * args.y_stride : 0;
  part.y += first * args.y_stride;
  part.rows = count;
  part.shared = nullptr;  // it holds all rows' inputs
  return part;
}

LinearArgs<int8_t> rows_of(const LinearArgs<int8_t>& args, uint32_t first, uint32_t count) {
  LinearArgs<int8_t> part = args;
  part.x += size_t{first} * args.k;
  part.x_scale += first;
  part.residual += args.residual != nullptr ? first * args.y_stride : 0;
  part.y += first * args.y_stride;
  part.rows = count;
  part.shared = nullptr;  // it holds all rows' inputs
  return part;
}

// Returns the native kernel's arguments for y = activation(sums) + residual of one row.
LinearArgs<float> finish_args(const LinearArgs<float>& args, const float* sums, uint32_t row) {
  LinearArgs<float> finish = rows_of(args, row, 1);
  finish.bias = sums;
  finish.k = 0;
  return finish;
}

LinearArgs<int8_t> finish_args(const LinearArgs<int8_t>& args, const float* sums, uint32_t row) {
  static constexpr float kNoScale = 0.0f;
  LinearArgs<int8_t> finish = rows_of(args, row, 1);
  finish.x_scale = &kNoScale;
  finish.bias = sums;
  finish.k = 0;
  finish.layout = Layout::kN16K4;
  return finish;
}

// y = sums + bias of all rows. Returns false if XNNPACK refuses, although it accepted the layer in prepare_engine.
bool run(const XnnpackLayer& layer, const LinearArgs<int8_t>& args, const TakenLane& lane, float* y) {
  xnnpack::RowScale* const scales = (*lane).scales;
  for (uint32_t i = 0; i < args.rows; ++i) scales[i] = {0, args.x_scale[i]};
  // Kernels for several rows compute the last row again in place of missing ones.
  for (uint32_t i = 0; i < xnnpack::kExtraRowScales; ++i) scales[args.rows + i] = scales[args.rows - 1];
  return xnnpack::run_int8(layer.operators[lane.index()], args.x, scales, args.rows, y,
      args.is_only_task ? engine_of(args).threads : nullptr);
}

bool run(const XnnpackLayer& layer, const LinearArgs<float>& args, const TakenLane& lane, float* y) {
  return xnnpack::run_float(
      layer.operators[lane.index()], args.x, args.rows, y, args.is_only_task ? engine_of(args).threads : nullptr);
}

// Computes one linear layer. `native` is the native table's kernel, which computes what XNNPACK does not.
template <typename Element> void linear(const LinearArgs<Element>& args, void (*native)(const LinearArgs<Element>&)) {
  const XnnpackLayer* layer = layer_for(engine_of(args), args.w, args.n, args.rows);
  if (layer == nullptr) return native(args);
  const TakenLane lane(engine_of(args));
  const bool has_residual = args.residual != nullptr;  // it may be stored where the result goes
  const bool activated = args.activation == Activation::kNone || (args.activation == Activation::kRelu && layer->relu);
  const uint32_t most = has_residual ? kResidualRows : args.rows;
  for (uint32_t first = 0; first < args.rows; first += most) {
    const LinearArgs<Element> part = rows_of(args, first, args.rows - first < most ? args.rows - first : most);
    float* const sums = has_residual ? (*lane).sums : part.y;
    const size_t stride = has_residual ? args.n : args.y_stride;
    if (!run(*layer, part, lane, sums)) {
      native(part);
      continue;
    }
    for (uint32_t row = 0; (has_residual || !activated) && row < part.rows; ++row)
      native(finish_args(part, sums + row * stride, row));
  }
}

// Computes one block of the output layer. `native`: the native table's operations.
template <typename Element>
void output_block(const OutputBlockArgs<Element>& args, const TypedKernels<Element>& native) {
  const LinearArgs<Element>& logits = args.linear;
  if (!parallelizes_itself(logits.backend, logits.w, logits.n, logits.rows)) return native.output_block(args);
  linear(logits, native.linear);
  if (args.block_max == nullptr) return;
  for (uint32_t row = 0; row < logits.rows; ++row) {
    OutputBlockArgs<Element> finish = args;
    finish.linear = finish_args(logits, logits.y + row * logits.y_stride, row);
    finish.block_max += row * args.stride;
    finish.block_sum += row * args.stride;
    native.output_block(finish);
  }
}

void linear_int8(const LinearArgs<int8_t>& args) { linear(args, engine_of(args).native->int8.linear); }

void linear_float(const LinearArgs<float>& args) { linear(args, engine_of(args).native->float32->linear); }

void output_block_int8(const OutputBlockArgs<int8_t>& args) { output_block(args, engine_of(args.linear).native->int8); }

void output_block_float(const OutputBlockArgs<float>& args) {
  output_block(args, *engine_of(args.linear).native->float32);
}
}  // namespace

void make_xnnpack_table(const char* name, XnnpackEngine* engine) {
  engine->table = *engine->native;
  engine->table.name = name;
  engine->table.int8.linear = linear_int8;
  engine->table.int8.output_block = output_block_int8;
  engine->table.backend = engine;
  engine->table.parallelizes_itself = parallelizes_itself;
  if (engine->native->float32 == nullptr) return;
  engine->float_table = *engine->native->float32;
  engine->float_table.linear = linear_float;
  engine->float_table.output_block = output_block_float;
  engine->table.float32 = &engine->float_table;
}

XnnpackLayer* find_layer(const XnnpackEngine& engine, const void* w, uint32_t n) {
  uint32_t begin = 0, end = engine.n_layers;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const bool before = comes_before(engine.layers[middle], w, n);
    (before ? begin : end) = before ? middle + 1 : middle;
  }
  const bool found = begin < engine.n_layers && engine.layers[begin].w == w && engine.layers[begin].n == n;
  return found ? &engine.layers[begin] : nullptr;
}

void sort_layers(XnnpackEngine* engine) {
  XnnpackLayer* const layers = engine->layers;
  for (uint32_t i = 1; i < engine->n_layers; ++i) {
    const XnnpackLayer layer = layers[i];
    uint32_t at = i;
    for (; at > 0 && !comes_before(layers[at - 1], layer.w, layer.n); --at) layers[at] = layers[at - 1];
    layers[at] = layer;
  }
}
}  // namespace goldcrest
