// SPDX-License-Identifier: Apache-2.0
// Measures the stack of calls on a board: paints it before each call, then looks how far the paint is gone.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include "common/linker_symbols.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest::test {
constexpr uint32_t kPaint = 0xc5a15bd7u;

struct StackUse {
  const char* name;
  uint32_t bytes;
};
inline StackUse uses[16];

// Keeps the largest use of each name. Returns `status`.
inline int keep(const char* name, uint32_t bytes, int status) {
  StackUse* use = uses;
  while (use->name != nullptr && std::strcmp(use->name, name) != 0) ++use;
  use->name = name;
  if (bytes > use->bytes) use->bytes = bytes;
  return status;
}

inline uint32_t stack_pointer() {
  uint32_t address;
#if defined(__riscv)
  asm volatile("mv %0, sp" : "=r"(address) : : "memory");
#else
  asm volatile("mov %0, sp" : "=r"(address) : : "memory");
#endif
  return address;
}

// Calls a function, and keeps the bytes that it wrote below the stack as it was at the call. `call` must be inlined.
template <typename Call> __attribute__((noinline)) int painted(const char* name, Call call) {
  const auto bottom = reinterpret_cast<uintptr_t>(board_stack_bottom);
  const uint32_t top = stack_pointer();
  for (uintptr_t at = bottom; at < top; at += 4) *reinterpret_cast<volatile uint32_t*>(at) = kPaint;
  const int status = static_cast<int>(call());
  uintptr_t at = bottom;
  while (at < top && *reinterpret_cast<volatile uint32_t*>(at) == kPaint) at += 4;
  return keep(name, static_cast<uint32_t>(top - at), status);
}

#define GOLDCREST_PAINTED(function, ...) \
  painted(                               \
      #function, [&]() __attribute__((always_inline)) { return function(__VA_ARGS__); })

// Prints lines "stack NAME BYTES". Returns whether there is one and none has more than GOLDCREST_STACK_BYTES.
inline bool print_stack_uses() {
  bool small_enough = uses[0].name != nullptr;
  for (const StackUse* use = uses; use->name != nullptr; ++use) {
    std::printf("stack %s %u\n", use->name, static_cast<unsigned>(use->bytes));
    small_enough &= use->bytes > 0 && use->bytes <= GOLDCREST_STACK_BYTES;
  }
  return small_enough;
}
}  // namespace goldcrest::test
