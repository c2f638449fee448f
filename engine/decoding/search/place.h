// SPDX-License-Identifier: Apache-2.0
// Makes named views of planned buffers, once for each engine.
#pragma once

#include "layers/runtime.h"

namespace goldcrest {
// Not inlined, to save flash: goldcrest_init places many buffers.
[[gnu::noinline]] inline void* address_of(const Runtime& runtime, const BufferRef& ref) {
  return runtime.buffer<uint8_t>(ref);
}

// *view <- the planned buffer
template <typename T> void place(const Runtime& runtime, const BufferRef& ref, T** view) {
  *view = static_cast<T*>(address_of(runtime, ref));
}

// A buffer with one part for each task.
template <typename T> struct TaskBuffer {
  T* first;
  size_t stride;  // elements

  T* of(uint32_t task) const { return first + task * stride; }
};

template <typename T> void place(const Runtime& runtime, const BufferRef& ref, TaskBuffer<T>* view) {
  place(runtime, ref, &view->first);
  view->stride = size_t{ref.task_stride} * static_cast<size_t>(kAlignment / sizeof(T));
}
}  // namespace goldcrest
