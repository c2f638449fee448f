// SPDX-License-Identifier: Apache-2.0
// Named views of planned buffers, made once by an engine.
#pragma once

#include "layers/runtime.h"

namespace goldcrest {

// Not inline: an engine places many buffers, once.
[[gnu::noinline, gnu::cold]] inline void* address_of(const Runtime& runtime, const BufferRef& ref) {
  return runtime.buffer<uint8_t>(ref);
}

// *view <- the planned buffer
template <typename T>
void place(const Runtime& runtime, const BufferRef& ref, T** view) {
  *view = static_cast<T*>(address_of(runtime, ref));
}

}  // namespace goldcrest
