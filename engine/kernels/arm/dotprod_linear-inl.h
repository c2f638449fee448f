// SPDX-License-Identifier: Apache-2.0
// Linear layers by SDOT on out-of-order cores, over vector/linear-inl.h. All sums of a single row's 32 outputs stay in
// registers until they are outputs. Uses the instruction text of arm/in_order-inl.h.
//
// A turn takes 16 inputs, v17. v0 to v7 are the sums, v8 what they start at; v24 to v31 are the weights of four inputs.
#include "kernels/arm/in_order-inl.h"

// clang-format off
#define GOLDCREST_START(sum) "mov v" #sum ".16b, v8.16b\n"
#define GOLDCREST_TO_FLOAT(sum) "fsub v" #sum ".4s, v" #sum ".4s, v8.4s\n"

#define GOLDCREST_ROW_DOTS(sum0, sum1, sum2, sum3, w0, w1, w2, w3, lane)                                              \
  "sdot v" #sum0 ".4s, v" #w0 ".16b, v17.4b[" #lane "]\nsdot v" #sum1 ".4s, v" #w1 ".16b, v17.4b[" #lane "]\n"        \
  "sdot v" #sum2 ".4s, v" #w2 ".16b, v17.4b[" #lane "]\nsdot v" #sum3 ".4s, v" #w3 ".16b, v17.4b[" #lane "]\n"
#define GOLDCREST_ROW_BLOCK(at, lane)                                                                                 \
  "ldp q24, q25, [%[w], #(" #at ")]\nldp q26, q27, [%[w], #(" #at " + 32)]\n"                                         \
  "ldp q28, q29, [%[next], #(" #at ")]\nldp q30, q31, [%[next], #(" #at " + 32)]\n"                                   \
  GOLDCREST_ROW_DOTS(0, 1, 2, 3, 24, 25, 26, 27, lane) GOLDCREST_ROW_DOTS(4, 5, 6, 7, 28, 29, 30, 31, lane)
#define GOLDCREST_FINISH_AT(at, a, b, c, d, to_float)                                                                 \
  GOLDCREST_LOAD_SCALES_AT(at) to_float(a) to_float(b) to_float(c) to_float(d)                                        \
  GOLDCREST_SCALE(a, b, c, d) GOLDCREST_STORE_AT(at, a, b, c, d)

#define GOLDCREST_ONE_ROW(to_float)                                                                                   \
  asm volatile(                                                                                                       \
      "dup v8.4s, %w[start]\n"                                                                                        \
      GOLDCREST_START(0) GOLDCREST_START(1) GOLDCREST_START(2) GOLDCREST_START(3)                                     \
      GOLDCREST_START(4) GOLDCREST_START(5) GOLDCREST_START(6) GOLDCREST_START(7)                                     \
      "0:\n"                                                                                                          \
      "ldr q17, [%[x], %[input]]\n"                                                                                   \
      GOLDCREST_ROW_BLOCK(0, 0) GOLDCREST_ROW_BLOCK(64, 1) GOLDCREST_ROW_BLOCK(128, 2) GOLDCREST_ROW_BLOCK(192, 3)    \
      "add %[input], %[input], #16\n"                                                                                 \
      "add %[w], %[w], #256\n"                                                                                        \
      "add %[next], %[next], #256\n"                                                                                  \
      "cmp %[input], %[k]\n"                                                                                          \
      "b.ne 0b\n"                                                                                                     \
      "ldr s28, [%[x_scale]]\n"                                                                                       \
      GOLDCREST_FINISH_AT(0, 0, 1, 2, 3, to_float) GOLDCREST_FINISH_AT(64, 4, 5, 6, 7, to_float)                      \
      : [w] "+r"(w), [next] "+r"(next), [input] "+r"(input)                                                           \
      : [x] "r"(args.x), [k] "r"(k), [x_scale] "r"(args.x_scale), [w_scale] "r"(args.w_scale + output),               \
        [bias] "r"(args.bias + output), [y] "r"(y), [start] "r"(start)                                                \
      : GOLDCREST_VECTORS, "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
// A single row has two loads for each two products, and a prefetch delays a load. So layers that fit half of the
// smallest second-level cache (256 KiB) are not prefetched.
constexpr size_t kSmallLayer = 128 * 1024;

// The longest row whose sums are below 2^22. Such sums start at the bits of 1.5 * 2^23 and become its last bits, so
// that a subtraction converts them; a conversion takes four times as long.
constexpr uint32_t kShortRow = 256;

// Computes the first n outputs of one row, n % 32 == 0.
template <bool kShort> inline void multiply_row(const LinearArgs<int8_t>& args, uint32_t n) {
  const size_t k = args.k;
  const uint32_t start = kShort ? 0x4b400000 : 0;
  const Activation activation = args.activation;
  const float* const residual = args.residual;
  const bool plain = activation == Activation::kNone && residual == nullptr;
  for (uint32_t output = 0; output < n; output += 32) {
    const int8_t *w = args.w + output * k, *next = w + 16 * k;
    size_t input = 0;
    float products[32];
    float* const y = plain ? args.y + output : products;
    if constexpr (kShort) GOLDCREST_ONE_ROW(GOLDCREST_TO_FLOAT);
    else GOLDCREST_ONE_ROW(GOLDCREST_FLOAT);
    for (uint32_t i = 0; i < 32 && !plain; i += 16) {
      V sums = load(products + i);
      if (activation == Activation::kRelu) sums = larger(sums, set(0.0f));
      else if (activation != Activation::kNone) sums = activate(activation, sums);
      if (residual != nullptr) sums = sums + load(residual + output + i);
      store(args.y + output + i, sums);
    }
  }
}

__attribute__((noinline)) void linear_of_small_row(const LinearArgs<int8_t>& args) {
  const uint32_t n = args.n / 32 * 32;
  if (args.k <= kShortRow) multiply_row<true>(args, n);
  else multiply_row<false>(args, n);
  if (n < args.n) linear_rows<1, false>(args, 0, n, args.n);
}

// kOthers computes layers of several rows, and large ones.
template <void (*kOthers)(const LinearArgs<int8_t>&)> void linear_by_dots(const LinearArgs<int8_t>& args) {
  if (args.rows > 1 || args.layout != Layout::kN16K4 || size_t{args.n} * args.k > kSmallLayer) return kOthers(args);
  linear_of_small_row(args);
}
}}  // namespace goldcrest
