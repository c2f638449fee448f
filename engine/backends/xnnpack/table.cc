// SPDX-License-Identifier: Apache-2.0
// The kernel table `xnnpack`. XNNPACK computes a layer's scaled sums and bias; what comes behind them - activation,
// residual, a block's log-sum-exp - is the native table's: its linear layer over no inputs is just that.
#include "backends/xnnpack/table.h"

namespace goldcrest {

namespace {

// A lane of the engine for a scope. There are as many as tasks, so one is free.
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

// The arguments of rows [first, first + count).
LinearArgs<float> rows_of(const LinearArgs<float>& args, uint32_t first, uint32_t count) {
  LinearArgs<float> part = args;
  part.x += size_t{first} * args.k;
  part.residual += args.residual != nullptr ? first * args.y_stride : 0;
  part.y += first * args.y_stride;
  part.rows = count;
  return part;
}

LinearArgs<int8_t> rows_of(const LinearArgs<int8_t>& args, uint32_t first, uint32_t count) {
  LinearArgs<int8_t> part = args;
  part.x += size_t{first} * args.k;
  part.x_scale += first;
  part.residual += args.residual != nullptr ? first * args.y_stride : 0;
  part.y += first * args.y_stride;
  part.rows = count;
  return part;
}

// The native kernel's arguments for y = activation(sums) + residual of one row.
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

// y = sums and bias of all rows. False: XNNPACK refuses, which it did not when the engine started.
bool run(const XnnpackLayer& layer, const LinearArgs<int8_t>& args, const TakenLane& lane, float* y) {
  xnnpack::RowScale* const scales = (*lane).scales;
  for (uint32_t i = 0; i < args.rows; ++i) scales[i] = {0, args.x_scale[i]};
  // Kernels for several rows compute the last one again in place of those that are not there.
  for (uint32_t i = 0; i < xnnpack::kExtraRowScales; ++i) scales[args.rows + i] = scales[args.rows - 1];
  return xnnpack::run_int8(layer.operators[lane.index()], args.x, scales, args.rows, y,
                           args.alone ? layer.engine->threads : nullptr);
}

bool run(const XnnpackLayer& layer, const LinearArgs<float>& args, const TakenLane& lane, float* y) {
  return xnnpack::run_float(layer.operators[lane.index()], args.x, args.rows, y,
                            args.alone ? layer.engine->threads : nullptr);
}

// One linear layer; `native` is the native table's kernel for it.
template <typename Args>
void linear(const Args& args, void (*native)(const Args&)) {
  if (!args.prepared->computes(args.rows)) return native(args);
  const XnnpackLayer& layer = *static_cast<const XnnpackLayer*>(args.prepared->object);
  const TakenLane lane(*layer.engine);
  const bool has_residual = args.residual != nullptr;  // it may lie where the result goes
  const bool activated = args.activation == Activation::kNone || (args.activation == Activation::kRelu && layer.relu);
  const uint32_t most = has_residual ? kResidualRows : args.rows;
  for (uint32_t first = 0; first < args.rows; first += most) {
    const Args part = rows_of(args, first, args.rows - first < most ? args.rows - first : most);
    float* const sums = has_residual ? (*lane).sums : part.y;
    const size_t stride = has_residual ? args.n : args.y_stride;
    if (!run(layer, part, lane, sums)) {
      native(part);
      continue;
    }
    for (uint32_t row = 0; (has_residual || !activated) && row < part.rows; ++row) {
      native(finish_args(part, sums + row * stride, row));
    }
  }
}

const XnnpackEngine& engine_of(const PreparedLayer* prepared) {
  return *static_cast<const XnnpackLayer*>(prepared->object)->engine;
}

void linear_int8(const LinearArgs<int8_t>& args) { linear(args, engine_of(args.prepared).native->linear); }

void linear_float(const LinearArgs<float>& args) { linear(args, engine_of(args.prepared).native->float32->linear); }

void output_block(const OutputBlockArgs<int8_t>& args) {
  const Kernels& native = *engine_of(args.linear.prepared).native;
  if (!args.linear.prepared->computes(args.linear.rows)) return native.output_block(args);
  linear_int8(args.linear);
  if (args.block_max == nullptr) return;
  for (uint32_t row = 0; row < args.linear.rows; ++row) {
    OutputBlockArgs<int8_t> finish = args;
    finish.linear = finish_args(args.linear, args.linear.y + row * args.linear.y_stride, row);
    finish.block_max += row * args.stride;
    finish.block_sum += row * args.stride;
    native.output_block(finish);
  }
}

}  // namespace

void make_xnnpack_table(const char* name, XnnpackEngine* engine) {
  engine->table = *engine->native;
  engine->table.name = name;
  engine->table.linear = linear_int8;
  engine->table.output_block = output_block;
  if (engine->native->float32 == nullptr) return;
  engine->float_table = *engine->native->float32;
  engine->float_table.linear = linear_float;
  engine->table.float32 = &engine->float_table;
}

}  // namespace goldcrest
