// SPDX-License-Identifier: Apache-2.0
// Computes a tile of a linear layer by VMULL and VMLAL on in-order cores (Cortex-A7, A53). A load of 128 bits takes
// them two cycles, so two rows share the weights of eight outputs. The sums wait for the products, so loads stand
// between the two. Compilers do not keep such an order.
//
// A turn takes eight inputs. %[s0] to %[s7] are the sums. q8 and q9 are the weights of four outputs, for their first
// and their last four inputs; q10 and q11 those of the next four outputs. q12 and q13 are inputs of a row each, the
// first and the last four in all lanes. q14 and q15 are sums of two products, which fit 16 bits because all factors
// are in [-127, 127].

// clang-format off
#define GOLDCREST_WITH(text) text
#define GOLDCREST_WITHOUT(text)

#define GOLDCREST_WEIGHTS(first, last, then)                               \
  "vld1.8 {" first "}, [%[first]]" then "\nvld1.8 {" last "}, [%[last]]" then "\n"
#define GOLDCREST_WEIGHTS_A(then) GOLDCREST_WEIGHTS("d16-d17", "d18-d19", then)
#define GOLDCREST_WEIGHTS_B(then) GOLDCREST_WEIGHTS("d20-d21", "d22-d23", then)
#define GOLDCREST_INPUTS(first, last, row) \
  "vld1.32 {" first "[]}, [%[" row "]]!\nvld1.32 {" last "[]}, [%[" row "]]!\n"
#define GOLDCREST_INPUTS_0 GOLDCREST_INPUTS("d24", "d25", "row0")
#define GOLDCREST_INPUTS_1 GOLDCREST_INPUTS("d26", "d27", "row1")

// Multiplies weights by inputs, then `between`, then adds the products to their sums.
#define GOLDCREST_PRODUCTS(low0, high0, low1, high1, x_first, x_last, between, even, odd)       \
  "vmull.s8 q14, " low0 ", " x_first "\nvmull.s8 q15, " high0 ", " x_first "\n"                 \
  "vmlal.s8 q14, " low1 ", " x_last "\nvmlal.s8 q15, " high1 ", " x_last "\n" between           \
  "vpadal.s16 %q[" even "], q14\nvpadal.s16 %q[" odd "], q15\n"
#define GOLDCREST_BY_A(x_first, x_last, between, even, odd) \
  GOLDCREST_PRODUCTS("d16", "d17", "d18", "d19", x_first, x_last, between, even, odd)
#define GOLDCREST_BY_B(x_first, x_last, between, even, odd) \
  GOLDCREST_PRODUCTS("d20", "d21", "d22", "d23", x_first, x_last, between, even, odd)

// One row, 16 outputs. `next`: loads for the next turn; the last turn leaves them out.
#define GOLDCREST_TURN_OF_1(next)                                                                                  \
  GOLDCREST_BY_A("d24", "d25", GOLDCREST_WEIGHTS_A("!"), "s0", "s1")                                               \
  GOLDCREST_BY_B("d24", "d25", GOLDCREST_WEIGHTS_B(", %[step]"), "s2", "s3")                                       \
  GOLDCREST_BY_A("d24", "d25", next(GOLDCREST_WEIGHTS_A("!")), "s4", "s5")                                         \
  GOLDCREST_BY_B("d24", "d25", next(GOLDCREST_INPUTS_0 GOLDCREST_WEIGHTS_B("!")), "s6", "s7")
// Two rows, eight outputs.
#define GOLDCREST_TURN_OF_2(next)                                                                                  \
  GOLDCREST_BY_A("d24", "d25", GOLDCREST_INPUTS_1, "s0", "s1")                                                     \
  GOLDCREST_BY_A("d26", "d27", next(GOLDCREST_WEIGHTS_A("!")), "s4", "s5")                                         \
  GOLDCREST_BY_B("d24", "d25", next(GOLDCREST_INPUTS_0), "s2", "s3")                                               \
  GOLDCREST_BY_B("d26", "d27", next(GOLDCREST_WEIGHTS_B(", %[step]")), "s6", "s7")

#define GOLDCREST_TILE(turn, after_b)                                                                              \
  asm volatile(                                                                                                    \
      GOLDCREST_WEIGHTS_A("!") GOLDCREST_INPUTS_0 GOLDCREST_WEIGHTS_B(after_b)                                     \
      "0:\n"                                                                                                       \
      turn(GOLDCREST_WITH)                                                                                         \
      "pld [%[first], #1024]\nsubs %[left], %[left], #8\n"                                                         \
      "pld [%[last], #1024]\nbne 0b\n"                                                                             \
      turn(GOLDCREST_WITHOUT)                                                                                      \
      : [s0] "+w"(sums[0]), [s1] "+w"(sums[1]), [s2] "+w"(sums[2]), [s3] "+w"(sums[3]), [s4] "+w"(sums[4]),        \
        [s5] "+w"(sums[5]), [s6] "+w"(sums[6]), [s7] "+w"(sums[7]), [first] "+r"(first), [last] "+r"(last),        \
        [row0] "+r"(row0), [row1] "+r"(row1), [left] "+r"(left)                                                    \
      : [step] "r"(step)                                                                                           \
      : "q8", "q9", "q10", "q11", "q12", "q13", "q14", "q15", "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
// Computes eight `sums` over all inputs, each with two lanes of products. kRows 1: of 16 outputs; 2: of eight outputs
// of each row.
template <int kRows> inline void add_products(const int8_t* x, const int8_t* w, size_t k, int32x4_t (&sums)[8]) {
  const int8_t *first = w, *last = w + 64, *row0 = x, *row1 = x + (kRows > 1 ? k : 0);
  const size_t step = kRows == 1 ? 80 : 112;  // bytes from the end of a turn's second-last weights to the next load
  size_t left = k - 8;
  if constexpr (kRows == 1) GOLDCREST_TILE(GOLDCREST_TURN_OF_1, "!");
  else GOLDCREST_TILE(GOLDCREST_TURN_OF_2, ", %[step]");
}

inline int32x4_t add_pairs(int32x4_t even, int32x4_t odd) {
  return vcombine_s32(
      vpadd_s32(vget_low_s32(even), vget_high_s32(even)), vpadd_s32(vget_low_s32(odd), vget_high_s32(odd)));
}

template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  static_assert(kRows <= 2 && kPanels == 1 && kSplit == 1 && kPrefetches, "all that is written here");
  constexpr int kPasses = kRows, kFours = 4 / kPasses;  // passes over outputs
  const size_t k = args.k;
  Acc acc[kRows][kPanels];
  for (int pass = 0; pass < kPasses; ++pass) {
    const int32x4_t none = vdupq_n_s32(0);
    int32x4_t sums[8] = {none, none, none, none, none, none, none, none};
    add_products<kRows>(args.x + first_row * k, args.w + first_output * k + 32 * pass, k, sums);
    for (int r = 0; r < kRows; ++r) {
      for (int i = 0; i < kFours; ++i) {
        const int at = 2 * (kFours * r + i);
        acc[r][0].q[kFours * pass + i] = add_pairs(sums[at], sums[at + 1]);
      }
    }
  }
  finish_tile(args, first_row, first_output, acc);
}
}}  // namespace goldcrest
