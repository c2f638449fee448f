// SPDX-License-Identifier: Apache-2.0
// Linear layers on out-of-order cores without dot product instructions (Cortex-A72). Sixteen inputs of a row meet in
// four lanes. Where the magnitudes of a lane's four inputs add up to at most 258, four products are added in 16 bits,
// and their sum in 32 bits; elsewhere two, which always fit, because all factors are in [-127, 127].
//
// Such a core takes three instructions a cycle, but one whose result has 128 bits fills two of the three places. So
// inputs and weights are in registers of 64 bits. A turn takes 16 inputs. v0 to v15 are the sums, eight registers a
// row, one for each two outputs. v16 to v19 are the first row's inputs, each four of them in both halves, v20 to v23
// the second row's. v24 to v27 are weights of two outputs, v28 to v31 sums of products.
#include "kernels/arm/in_order-inl.h"
#include "kernels/vector/tile-inl.h"

// clang-format off
#define GOLDCREST_INPUTS(row, a, b, c, d)                                                              \
  "ldr q" #a ", [%[" #row "], %[at]]\n"                                                                \
  "dup v" #b ".2s, v" #a ".s[1]\ndup v" #c ".2s, v" #a ".s[2]\ndup v" #d ".2s, v" #a ".s[3]\n"         \
  "dup v" #a ".2s, v" #a ".s[0]\n"

#define GOLDCREST_WEIGHTS(at)                                                                          \
  "ldr d24, [%[w], #(" #at ")]\nldr d25, [%[w], #(64 + " #at ")]\n"                                    \
  "ldr d26, [%[w], #(128 + " #at ")]\nldr d27, [%[w], #(192 + " #at ")]\n"

// Multiplies the weights of two outputs by inputs of one or two rows.
#define GOLDCREST_BY(product, sum, w, a)                                                       \
  product " v" #sum ".8h, v" #w ".8b, v" #a ".8b\n"
#define GOLDCREST_FOUR(second, row0, row1)                                                             \
  GOLDCREST_BY("smull", 28, 24, 16) second(GOLDCREST_BY("smull", 29, 24, 20))                          \
  GOLDCREST_BY("smlal", 28, 25, 17) second(GOLDCREST_BY("smlal", 29, 25, 21))                          \
  GOLDCREST_BY("smlal", 28, 26, 18) second(GOLDCREST_BY("smlal", 29, 26, 22))                          \
  GOLDCREST_BY("smlal", 28, 27, 19) second(GOLDCREST_BY("smlal", 29, 27, 23))                          \
  "sadalp v" #row0 ".4s, v28.8h\n" second("sadalp v" #row1 ".4s, v29.8h\n")
#define GOLDCREST_TWICE_TWO(second, row0, row1)                                                        \
  GOLDCREST_BY("smull", 28, 24, 16) second(GOLDCREST_BY("smull", 29, 24, 20))                          \
  GOLDCREST_BY("smlal", 28, 25, 17) second(GOLDCREST_BY("smlal", 29, 25, 21))                          \
  GOLDCREST_BY("smull", 30, 26, 18) second(GOLDCREST_BY("smull", 31, 26, 22))                          \
  GOLDCREST_BY("smlal", 30, 27, 19) second(GOLDCREST_BY("smlal", 31, 27, 23))                          \
  "sadalp v" #row0 ".4s, v28.8h\n" second("sadalp v" #row1 ".4s, v29.8h\n")                            \
  "sadalp v" #row0 ".4s, v30.8h\n" second("sadalp v" #row1 ".4s, v31.8h\n")

#define GOLDCREST_PAIR(products, second, at, row0, row1) GOLDCREST_WEIGHTS(at) products(second, row0, row1)

#define GOLDCREST_TURN(products, second)                                                               \
  GOLDCREST_PAIR(products, second, 0, 0, 8) GOLDCREST_PAIR(products, second, 8, 1, 9)                  \
  GOLDCREST_PAIR(products, second, 16, 2, 10) GOLDCREST_PAIR(products, second, 24, 3, 11)              \
  GOLDCREST_PAIR(products, second, 32, 4, 12) GOLDCREST_PAIR(products, second, 40, 5, 13)              \
  GOLDCREST_PAIR(products, second, 48, 6, 14) GOLDCREST_PAIR(products, second, 56, 7, 15)              \
  "prfm pldl1keep, [%[soon]]\nprfm pldl1keep, [%[soon], #64]\n"                                        \
  "prfm pldl1keep, [%[soon], #128]\nprfm pldl1keep, [%[soon], #192]\n"                                 \
  "add %[at], %[at], #16\nadd %[w], %[w], #256\nadd %[soon], %[soon], #256\n"                          \
  "cmp %[at], %[k]\nb.lo 0b\n"

#define GOLDCREST_TILE(second)                                                                         \
  asm volatile(                                                                                        \
      GOLDCREST_CLEAR(0) GOLDCREST_CLEAR(1) GOLDCREST_CLEAR(2) GOLDCREST_CLEAR(3)                      \
      GOLDCREST_CLEAR(4) GOLDCREST_CLEAR(5) GOLDCREST_CLEAR(6) GOLDCREST_CLEAR(7)                      \
      second(GOLDCREST_CLEAR(8) GOLDCREST_CLEAR(9) GOLDCREST_CLEAR(10) GOLDCREST_CLEAR(11)             \
        GOLDCREST_CLEAR(12) GOLDCREST_CLEAR(13) GOLDCREST_CLEAR(14) GOLDCREST_CLEAR(15))               \
      "0:\n"                                                                                           \
      "ldrb w8, [%[fits]], #1\n"                                                                       \
      GOLDCREST_INPUTS(row0, 16, 17, 18, 19) second(GOLDCREST_INPUTS(row1, 20, 21, 22, 23))            \
      "cbz w8, 1f\n"                                                                                   \
      GOLDCREST_TURN(GOLDCREST_FOUR, second)                                                           \
      "b 2f\n"                                                                                         \
      "1:\n"                                                                                           \
      GOLDCREST_TURN(GOLDCREST_TWICE_TWO, second)                                                      \
      "2:\n"                                                                                           \
      GOLDCREST_LOAD_SCALES                                                                            \
      GOLDCREST_ROW_SUMS(0, 1, 2, 3, 4, 5, 6, 7) GOLDCREST_FINISH(0, 2, 4, 6, 0)                       \
      second(GOLDCREST_ROW_SUMS(8, 9, 10, 11, 12, 13, 14, 15) GOLDCREST_FINISH(8, 10, 12, 14, 1))      \
      GOLDCREST_STORE(0, 2, 4, 6) second(GOLDCREST_STORE(8, 10, 12, 14))                               \
      : [w] "+r"(w), [at] "+r"(at), [fits] "+r"(fits), [soon] "+r"(soon), [y] "+r"(out.y)              \
      : [k] "r"(k), [row0] "r"(x0), [row1] "r"(x1), [x_scale] "r"(args.x_scale + first_row),           \
        [w_scale] "r"(args.w_scale + first_output), [bias] "r"(args.bias + first_output),              \
        [y_bytes] "r"(out.y_bytes)                                                                     \
      : GOLDCREST_VECTORS, "x8", "cc", "memory")
// clang-format on

namespace goldcrest { namespace {
constexpr uint32_t kTurnInputs = 16;
constexpr size_t kMostTurns = 8192;     // turns of some rows for which it is known where four products fit
constexpr uint32_t kMostFourSum = 258;  // 258 * 127 is the largest multiple of 127 below 2^15

struct FittingArgs : LinearArgs<int8_t> {
  const uint8_t* fits;  // [row - first_row][turn]: not 0 where four products of this row and the next fit
  uint32_t first_row;
};

template <int kRows> inline void linear_tile(const FittingArgs& args, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k;
  const int8_t* w = args.w + first_output * k;
  const int8_t *const x0 = args.x + first_row * k, *const x1 = x0 + (kRows > 1 ? k : 0);
  const uint8_t* fits = args.fits + (first_row - args.first_row) * (k / kTurnInputs);
  uintptr_t soon = reinterpret_cast<uintptr_t>(w) + make_prefetch<1>(16 * k, 256).at;
  size_t at = 0;
  TileOutputs<kRows> out(args, first_row, first_output);
  if constexpr (kRows == 1) GOLDCREST_TILE(GOLDCREST_WITHOUT);
  else GOLDCREST_TILE(GOLDCREST_WITH);
  if (!out.plain) finish_rows(args, out.products, out.at, kRows);
}

// Returns a byte for each turn of 64 inputs: whether four products fit.
inline uint32_t fitting_turns(const int8_t* x) {
  const int32x4x4_t fours = vld4q_s32(reinterpret_cast<const int32_t*>(x));  // val[i]: the i-th four of each turn
  uint8x16_t magnitudes[4];
  for (int i = 0; i < 4; ++i) magnitudes[i] = vreinterpretq_u8_s8(vabsq_s8(vreinterpretq_s8_s32(fours.val[i])));
  // Half of the sum, rounded up.
  const uint8x16_t half = vrhaddq_u8(vaddq_u8(magnitudes[0], magnitudes[1]), vaddq_u8(magnitudes[2], magnitudes[3]));
  const uint32x4_t too_large = vreinterpretq_u32_u8(vcgtq_u8(half, vdupq_n_u8(kMostFourSum / 2)));
  const uint16x4_t fits = vmovn_u32(vceqzq_u32(too_large));
  return vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(fits, fits))), 0);
}

// Writes where four products of each row and the next fit.
inline void find_fits(const int8_t* x, size_t k, uint32_t rows, uint8_t* fits) {
  const size_t turns = k / kTurnInputs;
  for (uint32_t row = 0; row < rows; ++row, x += k, fits += turns) {
    for (size_t i = 0; i < k; i += 64) {
      const size_t first = i + 64 <= k ? i : k - 64;  // the last ones can overlap those before
      const uint32_t found = fitting_turns(x + first);
      uint8_t* const to = fits + first / kTurnInputs;
      memcpy(to, &found, sizeof found);
      if (row == 0) continue;
      uint32_t before;
      memcpy(&before, to - turns, sizeof before);
      before &= found;
      memcpy(to - turns, &before, sizeof before);
    }
  }
}

// Computes `rows` rows from args.first_row on: two of them together, while a tile's weights stay in the first cache.
inline void linear_rows_by_fours(const FittingArgs& args, uint32_t rows) {
  for (uint32_t output = 0; output < args.n; output += 16) {
    if (rows % 2 != 0) linear_tile<1>(args, args.first_row, output);
    for (uint32_t row = rows % 2; row < rows; row += 2) linear_tile<2>(args, args.first_row + row, output);
  }
}

// flatten: all code is in one function, so that the callee-saved registers are saved only once.
__attribute__((flatten)) inline void linear_by_fours(const LinearArgs<int8_t>& layer) {
  const size_t turns = layer.k / kTurnInputs;
  if (layer.layout != Layout::kN16K4 || turns < 4 || turns > kMostTurns / 2) return linear(layer);
  uint8_t fits[kMostTurns];
  FittingArgs args;
  static_cast<LinearArgs<int8_t>&>(args) = layer;
  args.fits = fits;
  const uint32_t most = static_cast<uint32_t>(kMostTurns / turns) / 2 * 2;
  for (args.first_row = 0; args.first_row < args.rows; args.first_row += most) {
    const uint32_t rest = args.rows - args.first_row, rows = rest < most ? rest : most;
    find_fits(args.x + args.first_row * size_t{args.k}, args.k, rows, fits);
    linear_rows_by_fours(args, rows);
  }
}
}}  // namespace goldcrest
