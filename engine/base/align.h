// SPDX-License-Identifier: Apache-2.0
// Rounds sizes up: buffers to 64 bytes, matrix dimensions to 16 elements.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
constexpr uint64_t kAlignment = 64;  // bytes; GOLDCREST_ALIGN

constexpr uint64_t align_bytes(uint64_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }
constexpr uint32_t pad16(uint32_t n) { return (n + 15u) & ~15u; }

inline bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0; }
}  // namespace goldcrest
