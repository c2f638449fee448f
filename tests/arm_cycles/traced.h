// SPDX-License-Identifier: Apache-2.0
// The markers between which tracer.c records the code that runs.
#pragma once

namespace goldcrest::test {
#if defined(__thumb__)
// Interrupts are off between the markers.
[[gnu::noinline]] inline void begin_trace() { asm volatile("cpsid i\n mov r10, r10" ::: "memory"); }
[[gnu::noinline]] inline void end_trace() { asm volatile("mov r11, r11\n cpsie i" ::: "memory"); }
#else
[[gnu::noinline]] inline void begin_trace() { asm volatile("mov x27, x27" ::: "memory"); }
[[gnu::noinline]] inline void end_trace() { asm volatile("mov x28, x28" ::: "memory"); }
#endif
}  // namespace goldcrest::test
