// SPDX-License-Identifier: Apache-2.0
// The kernel table `xnnpack` of one engine: linear layers through XNNPACK's operators, all else from the native table.
#pragma once

#include <atomic>

#include "backends/xnnpack/adapter.h"
#include "kernels/kernels.h"

namespace goldcrest {

constexpr uint32_t kResidualRows = 64;  // rows whose sums wait for their residual at a time

// What one of an engine's tasks needs for itself while it computes a layer.
struct XnnpackLane {
  std::atomic<bool> taken;
  xnnpack::RowScale* scales;  // [most rows + kExtraRowScales]
  float* sums;                // [kResidualRows, widest layer with a residual]
};

struct XnnpackEngine {
  Kernels table;
  TypedKernels<float> float_table;
  const Kernels* native;
  void* threads;       // pthreadpool_t; null: the caller's thread alone
  XnnpackLane* lanes;  // [n_lanes]
  uint32_t n_lanes;    // as many as tasks
};

// PreparedLayer.object
struct XnnpackLayer {
  const XnnpackEngine* engine;
  xnnpack::Operator* operators;  // [n_lanes]
  bool relu;                     // is done by the operators
};

// Fills in engine->table and engine->float_table from engine->native.
void make_xnnpack_table(const char* name, XnnpackEngine* engine);

}  // namespace goldcrest
