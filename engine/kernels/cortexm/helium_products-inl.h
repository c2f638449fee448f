// SPDX-License-Identifier: Apache-2.0
// Computes the outputs of one row, eight at a time, or of two rows, four at a time, from N4K16 weights. One loop, which
// uses every register, computes products, scale, bias, ReLU and residual.
#pragma once

#include <stddef.h>
#include "kernels/cortexm/helium_rows-inl.h"

namespace goldcrest { namespace {
// The variables that the loop keeps in memory: all even registers hold sums, because VMLADAVA adds only to even ones.
// One instruction loads each pair of fields.
struct OutputLoop {
  const int8_t* x;       // [k] of the row
  const int8_t* next;    // [k] of the second row; one row: the weights of the second panel
  const float* w_scale;  // [outputs]
  const float* bias;     // [outputs]
  float* y;              // [outputs] of the row
  float* next_y;         // the second row's
  float x_scale, next_x_scale;
  uint32_t turns, odd;  // turns of two blocks of sixteen inputs; odd 1: the first turn is one block
  uint32_t k, finish;   // kAddResidual | kApplyRelu
  const int8_t* w;      // the first panel
  const float* y_end;
  size_t to_residual;  // bytes from y to its residual, and from next_y to its own
};
constexpr uint32_t kApplyRelu = 1, kAddResidual = 2;
static_assert(offsetof(OutputLoop, to_residual) == 14 * sizeof(void*));

// Loads and products alternate: each keeps its unit busy for two cycles, and one of the other kind can begin in the
// second. So a product stands one instruction after its load and never waits for it. The last product of a block
// stands in the next block.

// Sixteen inputs of one row by the outputs of two panels: r0, r2, r4, r6 and r8, r10, r12, lr. x: the register of the
// inputs; before: that of the previous block's inputs.
#define GOLDCREST_HELIUM_EIGHT_OUTPUTS(x, before, count) \
  "vldrb.8 " x                                           \
  ", [r1], #16\n"                                        \
  "vmladava.s8 lr, " before                              \
  ", q2\n"                                               \
  "vldrb.8 q1, [r5], #64\n" count                        \
  "vldrb.8 q2, [r5, #-48]\n"                             \
  "vmladava.s8 r0, " x                                   \
  ", q1\n"                                               \
  "vldrb.8 q1, [r5, #-32]\n"                             \
  "vmladava.s8 r2, " x                                   \
  ", q2\n"                                               \
  "vldrb.8 q2, [r5, #-16]\n"                             \
  "vmladava.s8 r4, " x                                   \
  ", q1\n"                                               \
  "vldrb.8 q1, [r3], #64\n"                              \
  "vmladava.s8 r6, " x                                   \
  ", q2\n"                                               \
  "vldrb.8 q2, [r3, #-48]\n"                             \
  "vmladava.s8 r8, " x                                   \
  ", q1\n"                                               \
  "vldrb.8 q1, [r3, #-32]\n"                             \
  "vmladava.s8 r10, " x                                  \
  ", q2\n"                                               \
  "vldrb.8 q2, [r3, #-16]\n"                             \
  "vmladava.s8 r12, " x ", q1\n"

// Sixteen inputs of two rows by the outputs of a panel.
#define GOLDCREST_HELIUM_TWO_ROWS(count) \
  "vldrb.8 q0, [r1], #16\n"              \
  "vmladava.s8 lr, q3, q2\n"             \
  "vldrb.8 q1, [r5], #64\n"              \
  "vmladava.s8 r0, q0, q1\n"             \
  "vldrb.8 q3, [r3], #16\n"              \
  "vmladava.s8 r8, q3, q1\n"             \
  "vldrb.8 q2, [r5, #-48]\n"             \
  "vmladava.s8 r2, q0, q2\n" count       \
  "vmladava.s8 r10, q3, q2\n"            \
  "vldrb.8 q1, [r5, #-32]\n"             \
  "vmladava.s8 r4, q0, q1\n"             \
  "vmladava.s8 r12, q3, q1\n"            \
  "vldrb.8 q2, [r5, #-16]\n"             \
  "vmladava.s8 r6, q0, q2\n"

// Sums all blocks into q0 and q1. `le` without lr, which holds a sum here, branches without a bubble.
#define GOLDCREST_HELIUM_SUMS(first, second) \
  "ldrd r1, r3, [r11]\n"                     \
  "ldr r5, [r11, #48]\n"                     \
  "1:\n"                                     \
  "ldrd r9, r0, [r11, #32]\n"                \
  "vmov.i32 q2, #0\n"                        \
  "movs r2, #0\n"                            \
  "movs r4, #0\n"                            \
  "movs r6, #0\n"                            \
  "mov r8, #0\n"                             \
  "mov r10, #0\n"                            \
  "mov r12, #0\n"                            \
  "mov lr, #0\n"                             \
  "cbz r0, 2f\n"                             \
  "movs r0, #0\n"                            \
  "b 3f\n"                                   \
  "2:\n" first "3:\n" second                 \
  "beq 4f\n"                                 \
  "le 2b\n"                                  \
  "4:\n"                                     \
  "vmladava.s8 lr, q3, q2\n"                 \
  "vmov q0[2], q0[0], r0, r4\n"              \
  "vmov q0[3], q0[1], r2, r6\n"              \
  "ldrd r0, r2, [r11, #8]\n"                 \
  "vmov q1[2], q1[0], r8, r12\n"             \
  "vmov q1[3], q1[1], r10, lr\n"             \
  "ldrd r8, r10, [r11, #24]\n"               \
  "vldrw.32 q2, [r0], #16\n"                 \
  "vcvt.f32.s32 q0, q0\n"                    \
  "vldrw.32 q3, [r2], #16\n"                 \
  "vmul.f32 q4, q2, r8\n"                    \
  "ldrd r4, r6, [r11, #16]\n"                \
  "vcvt.f32.s32 q1, q1\n"                    \
  "vmul.f32 q0, q0, q4\n"

// Applies scale and bias to the second four, the residual to all, stores them, and moves on to the next panel.
#define GOLDCREST_HELIUM_OUTPUTS(scale_next, load_residual, store_next, go_on) \
  scale_next                                                                   \
      "ldrd r12, lr, [r11, #40]\n"                                             \
      "vmul.f32 q1, q1, q2\n"                                                  \
      "strd r0, r2, [r11, #8]\n"                                               \
      "vadd.f32 q1, q1, q3\n"                                                  \
      "lsls lr, lr, #31\n"                                                     \
      "bpl 5f\n"                                                               \
      "vmov.i32 q2, #0\n"                                                      \
      "vmaxnm.f32 q0, q0, q2\n"                                                \
      "vmaxnm.f32 q1, q1, q2\n"                                                \
      "5:\n"                                                                   \
      "bcc 6f\n"                                                               \
      "ldr r0, [r11, #56]\n"                                                   \
      "add r2, r0, r6\n"                                                       \
      "add r0, r4\n" load_residual                                             \
      "vadd.f32 q0, q0, q2\n"                                                  \
      "vadd.f32 q1, q1, q3\n"                                                  \
      "6:\n"                                                                   \
      "vstrw.32 q0, [r4], #16\n" store_next                                    \
      "ldr r0, [r11, #52]\n"                                                   \
      "sub r1, r12\n"                                                          \
      "strd r4, r6, [r11, #16]\n" go_on                                        \
      "cmp r4, r0\n"                                                           \
      "bne 1b\n"                                                               \
      "strd r1, r3, [r11]\n"                                                   \
      "str r5, [r11, #48]\n"

// Computes outputs until loop.y is y_end. Leaves `loop` at the start of the next ones.
template <uint32_t kRows> __attribute__((noinline)) void compute_outputs(OutputLoop& outputs) {
  register OutputLoop* loop asm("r11") = &outputs;
  if constexpr (kRows == 1) {
    asm volatile(GOLDCREST_HELIUM_SUMS(
        GOLDCREST_HELIUM_EIGHT_OUTPUTS("q0", "q3", ""), GOLDCREST_HELIUM_EIGHT_OUTPUTS("q3", "q0", "subs r9, #1\n"))
                     GOLDCREST_HELIUM_OUTPUTS("vldrw.32 q2, [r0], #16\n"
                                              "vadd.f32 q0, q0, q3\n"
                                              "vldrw.32 q3, [r2], #16\n"
                                              "vmul.f32 q2, q2, r8\n",
                         "vldrw.32 q2, [r0]\n"
                         "vldrw.32 q3, [r0, #16]\n",
                         "vstrw.32 q1, [r4], #16\n",
                         "mov r5, r3\n"
                         "add r3, r3, r12, lsl #2\n")
                 :
                 : [loop] "r"(loop)
                 : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1", "q2", "q3",
                 "q4", "cc", "memory");
  } else {
    asm volatile(GOLDCREST_HELIUM_SUMS(GOLDCREST_HELIUM_TWO_ROWS(""), GOLDCREST_HELIUM_TWO_ROWS("subs r9, #1\n"))
                     GOLDCREST_HELIUM_OUTPUTS("vmul.f32 q2, q2, r10\n"
                                              "vadd.f32 q0, q0, q3\n",
                         "vldrw.32 q2, [r0]\n"
                         "vldrw.32 q3, [r2]\n",
                         "vstrw.32 q1, [r6], #16\n", "sub r3, r12\n")
                 :
                 : [loop] "r"(loop)
                 : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "q0", "q1", "q2", "q3",
                 "q4", "cc", "memory");
  }
}

// Computes all outputs of one or two rows.
template <uint32_t kRows> void linear_rows(const LinearArgs<int8_t>& args, uint32_t row) {
  constexpr uint32_t kTogether = 8 / kRows;
  const uint32_t blocks = args.k / 16;
  const size_t at = row * args.y_stride;
  float* y = args.y + at;
  const float* const residual = args.residual != nullptr ? args.residual + at : nullptr;
  const int8_t* const x = args.x + size_t{row} * args.k;
  OutputLoop loop;
  loop.x = x;
  loop.next = kRows == 2 ? x + args.k : args.w + 4 * args.k;
  loop.w_scale = args.w_scale;
  loop.bias = args.bias;
  loop.x_scale = args.x_scale[row];
  loop.next_x_scale = args.x_scale[row + kRows - 1];
  loop.turns = (blocks + 1) / 2;
  loop.odd = blocks % 2;
  loop.k = args.k;
  loop.w = args.w;
  if (args.activation == Activation::kNone || args.activation == Activation::kRelu) {
    loop.y = y;
    loop.next_y = y + args.y_stride;
    loop.y_end = y + args.n;
    loop.to_residual = reinterpret_cast<uintptr_t>(residual) - reinterpret_cast<uintptr_t>(y);
    loop.finish = (args.activation == Activation::kRelu ? kApplyRelu : 0) | (residual != nullptr ? kAddResidual : 0);
    return compute_outputs<kRows>(loop);
  }
  loop.finish = 0;
  for (uint32_t output = 0; output < args.n; output += kTogether) {
    float values[8];
    loop.y = values;
    loop.next_y = values + 4;
    loop.y_end = values + kTogether;
    compute_outputs<kRows>(loop);
    for (size_t i = 0; i < 8; i += 4) {
      const size_t to = kRows == 2 && i > 0 ? args.y_stride + output : output + i;
      V activated = activate_outputs(args.activation, load(values + i));
      if (residual != nullptr) activated = activated + load(residual + to);
      store(y + to, activated);
    }
  }
}
}}  // namespace goldcrest
