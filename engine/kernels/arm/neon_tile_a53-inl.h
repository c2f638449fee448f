// SPDX-License-Identifier: Apache-2.0
// Computes a tile of a linear layer by SMULL and SMLAL on Cortex-A53. A load of 64 bits into a vector register shares
// its cycle with a move from a general register. A load into a general register shares it with any vector operation. So
// weights are loaded in halves, two groups ahead. The sums of two products are added four cycles later, among the next
// products. Compilers do not keep such an order.
//
// A turn takes eight inputs. v0 to v15 are the sums, eight registers a row, two for each four outputs. v16 and v17 are
// the row's first and last four inputs in all lanes, v18 and v19 the second row's. v20 to v23 are sums of two products.
// v24 to v31 are weights, alternately for the first and the last inputs of four outputs; x8 and x9 hold their upper
// halves on the way.

// clang-format off
#define GOLDCREST_INPUTS(first, last, row) \
  "ld1r {v" #first ".4s}, [%[" #row "]], #4\nld1r {v" #last ".4s}, [%[" #row "]], #4\n"

// Multiplies weights by inputs, as sums of two products. Between the products is the code that shares their cycles.
#define GOLDCREST_PRODUCTS(low, high, first, last, x_first, x_last, beside0, beside1, beside2) \
  "smull v" #low ".8h, v" #first ".8b, v" #x_first ".8b\n" beside0                              \
  "smull2 v" #high ".8h, v" #first ".16b, v" #x_first ".16b\n" beside1                          \
  "smlal v" #low ".8h, v" #last ".8b, v" #x_last ".8b\n" beside2                                \
  "smlal2 v" #high ".8h, v" #last ".16b, v" #x_last ".16b\n"
#define GOLDCREST_SECOND(first, last) GOLDCREST_PRODUCTS(22, 23, first, last, 18, 19, "", "", "")
#define GOLDCREST_ADD(even, odd, low, high) "sadalp v" #even ".4s, v" #low ".8h\nsadalp v" #odd ".4s, v" #high ".8h\n"

// Four outputs: the first row's products, with the code `before` and `after` them. The loads of the weights two groups
// ahead begin (`begun`) and end (`ended`) here. `joined`, which the previous group began, gets its upper half.
#define GOLDCREST_FOUR(first, last, low, high, begun, ended, at, joined, before, beside, after)                       \
  GOLDCREST_LOW(begun, at) GOLDCREST_JOIN(joined, x9) before                                                          \
  GOLDCREST_PRODUCTS(low, high, first, last, 16, 17, GOLDCREST_HIGH(x8, at), GOLDCREST_HIGH(x9, at + 64), beside)     \
  GOLDCREST_LOW(ended, at + 64) GOLDCREST_JOIN(begun, x8) after

#define GOLDCREST_COUNT "subs %[left], %[left], #8\n"
#define GOLDCREST_STEP "csel %[step], %[step], xzr, ne\n"
#define GOLDCREST_ADVANCE "add %[w], %[w], %[step]\n"

#define GOLDCREST_TURN_OF_1                                                                                           \
  GOLDCREST_INPUTS(16, 17, row0)                                                                                      \
  GOLDCREST_FOUR(24, 25, 20, 21, 28, 29, 32, 27, GOLDCREST_ADD(6, 7, 22, 23), GOLDCREST_COUNT, "")                    \
  GOLDCREST_FOUR(26, 27, 22, 23, 30, 31, 48, 29, "", GOLDCREST_STEP, GOLDCREST_ADD(0, 1, 20, 21) GOLDCREST_ADVANCE)   \
  GOLDCREST_FOUR(28, 29, 20, 21, 24, 25, 0, 31, "", GOLDCREST_PREFETCH(1024), GOLDCREST_ADD(2, 3, 22, 23))            \
  GOLDCREST_FOUR(30, 31, 22, 23, 26, 27, 16, 25, "", GOLDCREST_PREFETCH(1088), GOLDCREST_ADD(4, 5, 20, 21))

#define GOLDCREST_TURN_OF_2                                                                                           \
  GOLDCREST_INPUTS(16, 17, row0) GOLDCREST_INPUTS(18, 19, row1)                                                       \
  GOLDCREST_FOUR(24, 25, 20, 21, 28, 29, 32, 27, GOLDCREST_ADD(14, 15, 22, 23), GOLDCREST_COUNT,                      \
    GOLDCREST_SECOND(24, 25) GOLDCREST_ADD(0, 1, 20, 21))                                                             \
  GOLDCREST_FOUR(26, 27, 20, 21, 30, 31, 48, 29, "", GOLDCREST_STEP,                                                  \
    GOLDCREST_ADD(8, 9, 22, 23) GOLDCREST_SECOND(26, 27) GOLDCREST_ADD(2, 3, 20, 21) GOLDCREST_ADVANCE)               \
  GOLDCREST_FOUR(28, 29, 20, 21, 24, 25, 0, 31, "", GOLDCREST_PREFETCH(1024),                                         \
    GOLDCREST_ADD(10, 11, 22, 23) GOLDCREST_SECOND(28, 29) GOLDCREST_ADD(4, 5, 20, 21))                               \
  GOLDCREST_FOUR(30, 31, 20, 21, 26, 27, 16, 25, "", GOLDCREST_PREFETCH(1088),                                        \
    GOLDCREST_ADD(12, 13, 22, 23) GOLDCREST_SECOND(30, 31) GOLDCREST_ADD(6, 7, 20, 21))

// The products that are not added yet start as zeros. The last turn loads its own first weights again where the other
// turns load those of the next turn.
#define GOLDCREST_TILE(second, turn, last_sums)                                                                       \
  asm volatile(                                                                                                       \
      GOLDCREST_LOW(24, 0) GOLDCREST_HIGH(x8, 0) GOLDCREST_CLEAR(0) GOLDCREST_CLEAR(1) GOLDCREST_CLEAR(2)             \
      GOLDCREST_JOIN(24, x8) GOLDCREST_LOW(25, 64) GOLDCREST_HIGH(x9, 64) GOLDCREST_CLEAR(3) GOLDCREST_CLEAR(4)       \
      GOLDCREST_CLEAR(5) GOLDCREST_JOIN(25, x9) GOLDCREST_LOW(26, 16) GOLDCREST_HIGH(x8, 16) GOLDCREST_CLEAR(6)       \
      GOLDCREST_CLEAR(7) GOLDCREST_CLEAR(22) GOLDCREST_JOIN(26, x8) GOLDCREST_LOW(27, 80) GOLDCREST_HIGH(x9, 80)      \
      GOLDCREST_CLEAR(23)                                                                                             \
      second(GOLDCREST_CLEAR(8) GOLDCREST_CLEAR(9) GOLDCREST_CLEAR(10) GOLDCREST_CLEAR(11) GOLDCREST_CLEAR(12)        \
        GOLDCREST_CLEAR(13) GOLDCREST_CLEAR(14) GOLDCREST_CLEAR(15))                                                  \
      "0:\n"                                                                                                          \
      turn                                                                                                            \
      "b.ne 0b\n"                                                                                                     \
      last_sums GOLDCREST_LOAD_SCALES                                                                                 \
      GOLDCREST_ROW_SUMS(0, 1, 2, 3, 4, 5, 6, 7) GOLDCREST_FINISH(0, 2, 4, 6, 0)                                      \
      second(GOLDCREST_ROW_SUMS(8, 9, 10, 11, 12, 13, 14, 15) GOLDCREST_FINISH(8, 10, 12, 14, 1))                     \
      GOLDCREST_STORE(0, 2, 4, 6) second(GOLDCREST_STORE(8, 10, 12, 14))                                              \
      : [w] "+r"(w), [left] "+r"(left), [step] "+r"(step), [row0] "+r"(x0), [row1] "+r"(x1), [y] "+r"(out.y)          \
      : [x_scale] "r"(args.x_scale + first_row), [w_scale] "r"(args.w_scale + first_output),                          \
        [bias] "r"(args.bias + first_output), [y_bytes] "r"(out.y_bytes)                                              \
      : GOLDCREST_VECTORS, "x8", "x9", "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  static_assert(kPanels == 1 && kSplit == 1 && kPrefetches, "all that is written here");
  const size_t k = args.k;
  const int8_t* w = args.w + first_output * k;
  const int8_t *x0 = args.x + first_row * k, *x1 = x0 + (kRows > 1 ? k : 0);
  size_t left = k, step = 128;
  TileOutputs<kRows> out(args, first_row, first_output);
  if constexpr (kRows == 1) GOLDCREST_TILE(GOLDCREST_WITHOUT, GOLDCREST_TURN_OF_1, GOLDCREST_ADD(6, 7, 22, 23));
  else GOLDCREST_TILE(GOLDCREST_WITH, GOLDCREST_TURN_OF_2, GOLDCREST_ADD(14, 15, 22, 23));
  if (!out.plain) finish_rows(args, out.products, out.at, kRows);
}
}}  // namespace goldcrest
