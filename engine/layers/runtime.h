// SPDX-License-Identifier: Apache-2.0
// The state that every layer needs at run time: the model's bytes, the kernels, and the caller's memory.
#pragma once

#include "kernels/kernels.h"
#include "memory/plan.h"
#include "model/idle_weights.h"
#include "model/model_view.h"

namespace goldcrest {
struct Operations;

struct Runtime {
  const Kernels* kernels;
  const Operations* operations;  // for the type of the file's weights
  ModelView model;
  GenerationView generation;
  goldcrest_limits limits;           // the memory is planned for them
  uint8_t* part[kRegions][kPhases];  // start of each region's part for a phase
  goldcrest_trace_function trace;
  void* trace_context;
  goldcrest_parallel_for parallel_for;  // null: tasks run one after another
  void* parallel_context;
  IdleWeights idle;
  uint32_t threads;  // tasks that work may be split into, >= 1

  // Returns the tensor at this offset of the file, in units.
  template <typename T> const T* tensor(uint32_t units) const {
    return reinterpret_cast<const T*>(model.file + size_t{units} * kAlignment);
  }

  template <typename T> T* buffer(BufferRef ref) const {
    return reinterpret_cast<T*>(
        part[static_cast<int>(ref.region)][static_cast<int>(ref.phase)] + size_t{ref.offset} * kAlignment);
  }

  // Returns the part of `task` in a buffer with a part for each task.
  template <typename T> T* task_buffer(BufferRef ref, uint32_t task) const {
    ref.offset += task * ref.task_stride;
    return buffer<T>(ref);
  }
};

// Rows of values for the trace hook.
struct TracedRows {
  const char* name;
  int32_t layer;         // -1: none
  uint32_t first_row;    // source position, or target position
  const float* values;   // [rows, count], row stride `stride`
  uint32_t rows, count;  // values of each
  size_t stride;
};

// Hands rows to the trace hook; nothing in builds without GOLDCREST_TRACE.
inline void trace_rows(const Runtime& runtime, const TracedRows& traced) {
#ifdef GOLDCREST_TRACE
  if (runtime.trace == nullptr) return;
  for (uint32_t row = 0; row < traced.rows; ++row) {
    runtime.trace(runtime.trace_context, traced.name, traced.layer, traced.first_row + row,
        traced.values + row * traced.stride, traced.count);
  }
#else
  (void)runtime, (void)traced;
#endif
}
}  // namespace goldcrest
