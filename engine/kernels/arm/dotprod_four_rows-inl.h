// SPDX-License-Identifier: Apache-2.0
// Computes four rows of a linear layer by SDOT on out-of-order cores. There the order of instructions does not matter,
// but all sums must stay in registers, and GCC 12 keeps only 14 of the 16. Uses the instruction text of
// arm/in_order-inl.h.
//
// A turn takes 16 inputs. v0 to v15 are the sums, four registers a row; v16 to v19 the inputs of each row; v24 to v31
// the weights of two blocks, which alternate.

// clang-format off
#define GOLDCREST_DOTS(sum0, sum1, sum2, sum3, weights, lane)                        \
  "sdot v" #sum0 ".4s, v" #weights ".16b, v16.4b[" #lane "]\n"                       \
  "sdot v" #sum1 ".4s, v" #weights ".16b, v17.4b[" #lane "]\n"                       \
  "sdot v" #sum2 ".4s, v" #weights ".16b, v18.4b[" #lane "]\n"                       \
  "sdot v" #sum3 ".4s, v" #weights ".16b, v19.4b[" #lane "]\n"
#define GOLDCREST_BLOCK(a, b, c, d, at, lane)                                        \
  "ldp q" #a ", q" #b ", [%[w], #(" #at ")]\n"                                       \
  "ldp q" #c ", q" #d ", [%[w], #(" #at " + 32)]\n"                                  \
  GOLDCREST_DOTS(0, 4, 8, 12, a, lane) GOLDCREST_DOTS(1, 5, 9, 13, b, lane)          \
  GOLDCREST_DOTS(2, 6, 10, 14, c, lane) GOLDCREST_DOTS(3, 7, 11, 15, d, lane)
#define GOLDCREST_CLEAR_ROW(a, b, c, d) GOLDCREST_CLEAR(a) GOLDCREST_CLEAR(b) GOLDCREST_CLEAR(c) GOLDCREST_CLEAR(d)

#define GOLDCREST_FOUR_ROWS                                                                                           \
  asm volatile(                                                                                                       \
      GOLDCREST_CLEAR_ROW(0, 1, 2, 3) GOLDCREST_CLEAR_ROW(4, 5, 6, 7)                                                 \
      GOLDCREST_CLEAR_ROW(8, 9, 10, 11) GOLDCREST_CLEAR_ROW(12, 13, 14, 15)                                           \
      "0:\n"                                                                                                          \
      "ldr q16, [%[row0], %[input]]\nldr q17, [%[row1], %[input]]\n"                                                  \
      "ldr q18, [%[row2], %[input]]\nldr q19, [%[row3], %[input]]\n"                                                  \
      GOLDCREST_BLOCK(24, 25, 26, 27, 0, 0) GOLDCREST_PREFETCH(2048)                                                  \
      GOLDCREST_BLOCK(28, 29, 30, 31, 64, 1) GOLDCREST_PREFETCH(2112)                                                 \
      GOLDCREST_BLOCK(24, 25, 26, 27, 128, 2) GOLDCREST_PREFETCH(2176)                                                \
      GOLDCREST_BLOCK(28, 29, 30, 31, 192, 3) GOLDCREST_PREFETCH(2240)                                                \
      "add %[input], %[input], #16\n"                                                                                 \
      "add %[w], %[w], #256\n"                                                                                        \
      "cmp %[input], %[k]\n"                                                                                          \
      "b.ne 0b\n"                                                                                                     \
      GOLDCREST_LOAD_SCALES                                                                                           \
      GOLDCREST_FINISH(0, 1, 2, 3, 0) GOLDCREST_STORE(0, 1, 2, 3)                                                     \
      GOLDCREST_FINISH(4, 5, 6, 7, 1) GOLDCREST_STORE(4, 5, 6, 7)                                                     \
      GOLDCREST_FINISH(8, 9, 10, 11, 2) GOLDCREST_STORE(8, 9, 10, 11)                                                 \
      GOLDCREST_FINISH(12, 13, 14, 15, 3) GOLDCREST_STORE(12, 13, 14, 15)                                             \
      : [w] "+r"(w), [input] "+r"(input), [y] "+r"(out.y)                                                             \
      : [row0] "r"(x), [row1] "r"(x + k), [row2] "r"(x + 2 * k), [row3] "r"(x + 3 * k), [k] "r"(k),                   \
        [x_scale] "r"(args.x_scale), [w_scale] "r"(args.w_scale + output), [bias] "r"(args.bias + output),            \
        [y_bytes] "r"(out.y_bytes)                                                                                    \
      : GOLDCREST_VECTORS, "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
void linear_of_four_rows(const LinearArgs<int8_t>& args) {
  const size_t k = args.k;
  const int8_t* const x = args.x;
  for (uint32_t output = 0; output < args.n; output += 16) {
    const int8_t* w = args.w + output * k;
    size_t input = 0;
    TileOutputs<4> out(args, 0, output);
    GOLDCREST_FOUR_ROWS;
    if (!out.plain) finish_rows(args, out.products, out.at, 4);
  }
}
}}  // namespace goldcrest
