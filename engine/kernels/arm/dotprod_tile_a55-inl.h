// SPDX-License-Identifier: Apache-2.0
// Computes a tile of a linear layer by SDOT on Cortex-A55. This core issues a load of 64 bits, or a move from a general
// register, in the same cycle as the SDOT before it. So weights are loaded in halves, five registers ahead, and every
// SDOT is followed by another kind of instruction. Compilers do not keep such an order.
//
// A turn takes 16 inputs. v0 to v15 are the sums, four registers a row; v16 to v19 the first eight inputs of each row,
// v20 to v23 the last; v24 to v31 are the weights in rotation, whose upper halves pass through x8 to x15.

// clang-format off
#define GOLDCREST_DOT(sum, weights, x, lane) "sdot v" #sum ".4s, v" #weights ".16b, v" #x ".4b[" #lane "]\n"
#define GOLDCREST_INPUTS(x, row) "ldr d" #x ", [%[" #row "], %[input]]\n"

// Multiplies the weights `now` by a lane of the rows' inputs a, b, c, d. Between the SDOTs are the loads of a register,
// another instruction, and the move that completes another register.
#define GOLDCREST_GROUP(second, third, fourth, sum0, sum1, sum2, sum3, a, b, c, d, lane, now, low, high, at, joined,   \
                        half, more)                                                                                   \
  GOLDCREST_DOT(sum0, now, a, lane) GOLDCREST_LOW(low, at)                                                            \
  second(GOLDCREST_DOT(sum1, now, b, lane)) GOLDCREST_HIGH(high, at)                                                  \
  third(GOLDCREST_DOT(sum2, now, c, lane)) more                                                                       \
  fourth(GOLDCREST_DOT(sum3, now, d, lane)) GOLDCREST_JOIN(joined, half)

// Eight inputs. The weights five registers ahead are stored at `at`, from the fourth group on at `on`.
#define GOLDCREST_HALF(second, third, fourth, a, b, c, d, at, on, m0, m1, m2, m3, m4, m5, m6, m7)         \
  GOLDCREST_GROUP(second, third, fourth, 0, 4, 8, 12, a, b, c, d, 0, 24, 29, x13, at + 80, 27, x11, m0)   \
  GOLDCREST_GROUP(second, third, fourth, 1, 5, 9, 13, a, b, c, d, 0, 25, 30, x14, at + 96, 28, x12, m1)   \
  GOLDCREST_GROUP(second, third, fourth, 2, 6, 10, 14, a, b, c, d, 0, 26, 31, x15, at + 112, 29, x13, m2) \
  GOLDCREST_GROUP(second, third, fourth, 3, 7, 11, 15, a, b, c, d, 0, 27, 24, x8, on, 30, x14, m3)        \
  GOLDCREST_GROUP(second, third, fourth, 0, 4, 8, 12, a, b, c, d, 1, 28, 25, x9, on + 16, 31, x15, m4)    \
  GOLDCREST_GROUP(second, third, fourth, 1, 5, 9, 13, a, b, c, d, 1, 29, 26, x10, on + 32, 24, x8, m5)    \
  GOLDCREST_GROUP(second, third, fourth, 2, 6, 10, 14, a, b, c, d, 1, 30, 27, x11, on + 48, 25, x9, m6)   \
  GOLDCREST_GROUP(second, third, fourth, 3, 7, 11, 15, a, b, c, d, 1, 31, 28, x12, on + 64, 26, x10, m7)

// The last turn loads its own first weights and inputs again where the other turns load those of the next turn.
#define GOLDCREST_TILE(second, third, fourth)                                                                         \
  asm volatile(                                                                                                       \
      GOLDCREST_CLEAR(0) GOLDCREST_LOW(24, 0) GOLDCREST_CLEAR(1) GOLDCREST_HIGH(x8, 0)                                \
      GOLDCREST_CLEAR(2) GOLDCREST_LOW(25, 16) GOLDCREST_CLEAR(3) GOLDCREST_HIGH(x9, 16)                              \
      second(GOLDCREST_CLEAR(4)) GOLDCREST_LOW(26, 32) second(GOLDCREST_CLEAR(5)) GOLDCREST_HIGH(x10, 32)             \
      second(GOLDCREST_CLEAR(6)) GOLDCREST_LOW(27, 48) second(GOLDCREST_CLEAR(7)) GOLDCREST_HIGH(x11, 48)             \
      third(GOLDCREST_CLEAR(8)) GOLDCREST_LOW(28, 64) third(GOLDCREST_CLEAR(9)) GOLDCREST_HIGH(x12, 64)               \
      third(GOLDCREST_CLEAR(10)) GOLDCREST_INPUTS(16, row0)                                                           \
      third(GOLDCREST_CLEAR(11)) second(GOLDCREST_INPUTS(17, row1))                                                   \
      fourth(GOLDCREST_CLEAR(12)) third(GOLDCREST_INPUTS(18, row2))                                                   \
      fourth(GOLDCREST_CLEAR(13)) fourth(GOLDCREST_INPUTS(19, row3))                                                  \
      fourth(GOLDCREST_CLEAR(14)) GOLDCREST_JOIN(24, x8) fourth(GOLDCREST_CLEAR(15)) GOLDCREST_JOIN(25, x9)           \
      GOLDCREST_JOIN(26, x10)                                                                                         \
      "0:\n"                                                                                                          \
      GOLDCREST_HALF(second, third, fourth, 16, 17, 18, 19, 0, 128,                                                   \
        GOLDCREST_INPUTS(20, last0), second(GOLDCREST_INPUTS(21, last1)), "subs %[left], %[left], #16\n",             \
        "csel %[step], %[step], xzr, ne\n", third(GOLDCREST_INPUTS(22, last2)),                                       \
        fourth(GOLDCREST_INPUTS(23, last3)), GOLDCREST_PREFETCH(2048), GOLDCREST_PREFETCH(2112))                      \
      GOLDCREST_HALF(second, third, fourth, 20, 21, 22, 23, 128, 0,                                                   \
        "add %[input], %[input], %[step]\n", GOLDCREST_INPUTS(16, row0), "add %[w], %[w], %[step], lsl #4\n",         \
        second(GOLDCREST_INPUTS(17, row1)), third(GOLDCREST_INPUTS(18, row2)),                                        \
        fourth(GOLDCREST_INPUTS(19, row3)), GOLDCREST_PREFETCH(1920), GOLDCREST_PREFETCH(1984))                       \
      "b.ne 0b\n"                                                                                                     \
      GOLDCREST_LOAD_SCALES                                                                                           \
      GOLDCREST_FINISH(0, 1, 2, 3, 0) second(GOLDCREST_FINISH(4, 5, 6, 7, 1)) GOLDCREST_STORE(0, 1, 2, 3)             \
      third(GOLDCREST_FINISH(8, 9, 10, 11, 2)) second(GOLDCREST_STORE(4, 5, 6, 7))                                    \
      fourth(GOLDCREST_FINISH(12, 13, 14, 15, 3)) third(GOLDCREST_STORE(8, 9, 10, 11))                                \
      fourth(GOLDCREST_STORE(12, 13, 14, 15))                                                                         \
      : [w] "+r"(w), [input] "+r"(input), [left] "+r"(left), [step] "+r"(step), [y] "+r"(out.y)                       \
      : [row0] "r"(x0), [row1] "r"(x1), [row2] "r"(x2), [row3] "r"(x3), [last0] "r"(x0 + 8), [last1] "r"(x1 + 8),     \
        [last2] "r"(x2 + 8), [last3] "r"(x3 + 8), [x_scale] "r"(args.x_scale + first_row),                            \
        [w_scale] "r"(args.w_scale + first_output), [bias] "r"(args.bias + first_output), [y_bytes] "r"(out.y_bytes)  \
      : GOLDCREST_VECTORS, "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  static_assert(kPanels == 1 && kSplit == 1 && kPrefetches, "all that is written here");
  const size_t k = args.k;
  const int8_t* w = args.w + first_output * k;
  const int8_t* const x0 = args.x + first_row * k;  // missing rows: the first
  const int8_t *const x1 = x0 + (kRows > 1 ? k : 0), *const x2 = x1 + (kRows > 2 ? k : 0),
                      *const x3 = x2 + (kRows > 3 ? k : 0);
  size_t input = 0, left = k, step = 16;
  TileOutputs<kRows> out(args, first_row, first_output);
  if constexpr (kRows == 1) GOLDCREST_TILE(GOLDCREST_WITHOUT, GOLDCREST_WITHOUT, GOLDCREST_WITHOUT);
  if constexpr (kRows == 2) GOLDCREST_TILE(GOLDCREST_WITH, GOLDCREST_WITHOUT, GOLDCREST_WITHOUT);
  if constexpr (kRows == 3) GOLDCREST_TILE(GOLDCREST_WITH, GOLDCREST_WITH, GOLDCREST_WITHOUT);
  if constexpr (kRows == 4) GOLDCREST_TILE(GOLDCREST_WITH, GOLDCREST_WITH, GOLDCREST_WITH);
  if (!out.plain) finish_rows(args, out.products, out.at, kRows);
}
}}  // namespace goldcrest
