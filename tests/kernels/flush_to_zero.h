// SPDX-License-Identifier: Apache-2.0
// Makes the CPU flush denormals to zero for a scope, if the CPU can do that.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace goldcrest::test {
class FlushToZero {
 public:
#if defined(__riscv)
  static constexpr bool kIsPossible = false;  // it always computes with denormals
#else
  static constexpr bool kIsPossible = true;
#endif

  FlushToZero() : before_(control()) { set_control(before_ | kFlush); }
  ~FlushToZero() { set_control(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

  // Returns whether half of the smallest normal number is zero now.
  static bool in_force() {
    volatile float smallest = 0x1p-126f;
    return smallest * 0.5f == 0.0f;
  }
 private:
#if defined(__SSE2__)
  using Control = uint32_t;
  static constexpr Control kFlush = 0x8040;  // MXCSR: results (FTZ) and operands (DAZ)
  static Control control() { return _mm_getcsr(); }
  static void set_control(Control value) { _mm_setcsr(value); }
#elif defined(__aarch64__)
  using Control = uint64_t;
  static constexpr Control kFlush = 1u << 24;  // FPCR.FZ: results and operands
  static Control control() {
    Control value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void set_control(Control value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#elif defined(__arm__) && defined(__ARM_FP)
  using Control = uint32_t;
  static constexpr Control kFlush = 1u << 24;  // FPSCR.FZ: results and operands
  static Control control() {
    Control value;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(value));
    return value;
  }
  static void set_control(Control value) { __asm__ volatile("vmsr fpscr, %0" : : "r"(value) : "memory"); }
#elif defined(__riscv)
  using Control = uint32_t;
  static constexpr Control kFlush = 0;
  static Control control() { return 0; }
  static void set_control(Control) {}
#else
#error "how does this CPU flush denormals to zero?"
#endif

  Control before_;
};
}  // namespace goldcrest::test
