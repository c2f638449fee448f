// SPDX-License-Identifier: Apache-2.0
// The products of a linear layer with N16K4 weights: one row by four outputs, two by two, three by one, or four by two.
// More sums do not fit the general registers.
#pragma once

#include "kernels/cortexm/dsp_rows-inl.h"

#if defined(__OPTIMIZE__)  // the loops take every register, but an unoptimized build reserves some
namespace goldcrest { namespace {
// Four inputs of a row take two words: inputs 0 and 2, inputs 1 and 3. kExpandedWords words are on the stack.
constexpr uint32_t kExpandedWords = 256;
#if defined(__clang__)  // gives each memory operand a register; three and four rows leave none free
constexpr uint32_t kTileRows = 2;
#else
constexpr uint32_t kTileRows = 4;
#endif

constexpr uint32_t kEndOfChunk = 0x80008000u;

// Expanded inputs of a tile's rows, block by block: for each four inputs the pairs of all rows.
struct Chunk {
  const uint32_t* x;    // [blocks, rows, 2]; for four rows [kFirstSums], [blocks, 2, rows]; then kEndOfChunk
  const uint32_t* end;  // address of kEndOfChunk
  uint32_t odd;         // blocks of the first turn, a multiple of 4, if that turn is not whole; else 0
  size_t w_bytes;       // a panel's weights for these inputs
  bool continued;       // add to the outputs
};

// One output of a tile: the sum of its products, later its scaled value.
union Output {
  int32_t sum;
  float value;
};

// A Cortex-M7 issues two instructions a cycle: only one may multiply, and only the first may extend. A load of a pair
// or of several registers issues by itself. So SXTB16 and SMLAD alternate, and the operands of a product are ready two
// cycles before it. The weights of the next block are loaded among the products of this one; after the last block none
// are read.
//
// A turn is some blocks of four inputs. If `odd` is not 0, the first turn begins in its middle, with this many blocks.
// The repeated text is written out without .rept, because the compiler counts the lines of an assembler block to know
// how far away its constants may be. x ends with a word that no pair can equal, because the loops have only one
// register left.
#define GOLDCREST_DSP_THREE_TIMES(block) block block block
#define GOLDCREST_DSP_SMLAD(sum, a, b) "smlad %[" #sum "], " a ", " b ", %[" #sum "]\n"

// Four inputs of one row by four outputs, whose weights are w0 to w3. The last product comes in the next block.
#define GOLDCREST_DSP_FOUR_OUTPUTS(load) \
  "sxtb16 %[even], %[w0]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum3, "%[w3]", "%[x_odd]")                         \
  "ldrd %[x_even], %[x_odd], [%[x]], #8\n"                               \
  "ldrd %[w2], %[w3], [%[w]], #56\n"                                     \
  "sxtb16 %[w0], %[w0], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum0, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w1]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum0, "%[w0]", "%[x_odd]")                         \
  "sxtb16 %[w1], %[w1], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w2]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum1, "%[w1]", "%[x_odd]")                         \
  load                                                                   \
  "sxtb16 %[w2], %[w2], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[even]", "%[x_even]")                      \
  "sxtb16 %[even], %[w3]\n"                                              \
  GOLDCREST_DSP_SMLAD(sum2, "%[w2]", "%[x_odd]")                         \
  "sxtb16 %[w3], %[w3], ror #8\n"                                        \
  GOLDCREST_DSP_SMLAD(sum3, "%[even]", "%[x_even]")

// outputs[j] (+)= products of one row with four outputs of a panel.
// w: the first of the four outputs in a panel; its next four inputs are stored 64 bytes further.
inline void add_products_of_row(const Chunk& chunk, const int8_t* w, Output* outputs) {
  const uint32_t* x = chunk.x;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  if (chunk.continued) sum0 = outputs[0].sum, sum1 = outputs[1].sum, sum2 = outputs[2].sum, sum3 = outputs[3].sum;
  uint32_t x_even, x_odd = 0, w0, w1, w2, w3 = chunk.odd, even;
#define GOLDCREST_DSP_NEXT "ldrd %[w0], %[w1], [%[w]], #8\n"
#define GOLDCREST_DSP_NEXT_UNLESS_LAST \
  "ldr %[w0], [%[x]]\n"                \
  "cmp %[w0], %[end]\n"                \
  "it ne\n"                            \
  "ldrdne %[w0], %[w1], [%[w]], #8\n"
  asm volatile(
      "ldrd %[w0], %[w1], [%[w]], #8\n"
      "cbz %[w3], 1f\n"
      "b 2f\n"
      "1:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT)) GOLDCREST_DSP_FOUR_OUTPUTS(
          GOLDCREST_DSP_NEXT) "2:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT))
          GOLDCREST_DSP_FOUR_OUTPUTS(GOLDCREST_DSP_NEXT_UNLESS_LAST) "bne 1b\n" GOLDCREST_DSP_SMLAD(
              sum3, "%[w3]", "%[x_odd]")
      : [x] "+r"(x), [w] "+r"(w), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3),
      [x_even] "=&r"(x_even), [x_odd] "+r"(x_odd), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2), [w3] "+l"(w3),
      [even] "=&r"(even)
      : [end] "i"(kEndOfChunk)
      : "cc", "memory");
  outputs[0].sum = sum0, outputs[1].sum = sum1, outputs[2].sum = sum2, outputs[3].sum = sum3;
}

// Four inputs of two rows by two outputs; r8 to r11 take the pairs of both rows in one load. The last product comes in
// the next block.
#define GOLDCREST_DSP_TWO_BY_TWO(load) \
  "sxtb16 %[even], %[w0]\n"                        \
  GOLDCREST_DSP_SMLAD(sum3, "%[w1]", "r11")        \
  "ldmia %[x]!, {r8-r11}\n"                        \
  "sxtb16 %[w0], %[w0], ror #8\n"                  \
  GOLDCREST_DSP_SMLAD(sum0, "%[even]", "r8")       \
  "ldr %[w1], [%[w], #4]\n"                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[even]", "r10")      \
  GOLDCREST_DSP_SMLAD(sum0, "%[w0]", "r9")         \
  "sxtb16 %[even], %[w1]\n"                        \
  GOLDCREST_DSP_SMLAD(sum2, "%[w0]", "r11")        \
  "sxtb16 %[w1], %[w1], ror #8\n"                  \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "r8")       \
  load                                             \
  GOLDCREST_DSP_SMLAD(sum3, "%[even]", "r10")      \
  GOLDCREST_DSP_SMLAD(sum1, "%[w1]", "r9")

// outputs[16 * r + j] (+)= products of two rows with two outputs of a panel.
inline void add_products_of_two_rows(const Chunk& chunk, const int8_t* w, Output* outputs) {
  const uint32_t* x = chunk.x;
  int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
  if (chunk.continued) sum0 = outputs[0].sum, sum1 = outputs[1].sum, sum2 = outputs[16].sum, sum3 = outputs[17].sum;
  uint32_t w0, w1 = 0, even = chunk.odd;
#define GOLDCREST_DSP_NEXT_W0 "ldr %[w0], [%[w], #64]!\n"
#define GOLDCREST_DSP_NEXT_W0_UNLESS_LAST \
  "ldr %[w0], [%[x]]\n"                   \
  "cmp %[w0], %[end]\n"                   \
  "it ne\n"                               \
  "ldrne %[w0], [%[w], #64]!\n"
  asm volatile(
      "ldr %[w0], [%[w]]\n"
      "cbz %[even], 1f\n"
      "b 2f\n"
      "1:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0)) GOLDCREST_DSP_TWO_BY_TWO(
          GOLDCREST_DSP_NEXT_W0) "2:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0))
          GOLDCREST_DSP_TWO_BY_TWO(GOLDCREST_DSP_NEXT_W0_UNLESS_LAST) "bne 1b\n" GOLDCREST_DSP_SMLAD(
              sum3, "%[w1]", "r11")
      : [x] "+r"(x), [w] "+r"(w), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3),
      [w0] "=&r"(w0), [w1] "+r"(w1), [even] "+l"(even)
      : [end] "i"(kEndOfChunk)
      : "r8", "r9", "r10", "r11", "cc", "memory");
  outputs[0].sum = sum0, outputs[1].sum = sum1, outputs[16].sum = sum2, outputs[17].sum = sum3;
}

// Four inputs of three rows by one output. The first weights of a turn are loaded at its beginning, those of its other
// blocks in the previous block.
#define GOLDCREST_DSP_THREE_ROWS(load, extend)                                                                         \
  "ldmia %[x]!, {r8-r11}\n"                                                                                            \
  "sxtb16 %[odd], %[next], ror #8\n" GOLDCREST_DSP_SMLAD(sum0, "%[even]", "r8") load                                   \
  GOLDCREST_DSP_SMLAD(sum1, "%[even]", "r10")                                                                          \
      GOLDCREST_DSP_SMLAD(sum0, "%[odd]", "r9") "ldrd r8, r9, [%[x]], #8\n" GOLDCREST_DSP_SMLAD(sum1, "%[odd]", "r11") \
          GOLDCREST_DSP_SMLAD(sum2, "%[even]", "r8") extend                                                            \
          GOLDCREST_DSP_SMLAD(sum2, "%[odd]", "r9")
#define GOLDCREST_DSP_EXTEND_EVEN "sxtb16 %[even], %[next]\n"
#define GOLDCREST_DSP_BLOCK GOLDCREST_DSP_THREE_ROWS("ldr %[next], [%[w], #64]!\n", GOLDCREST_DSP_EXTEND_EVEN)

// outputs[r, j] (+)= products of three rows with the 16 outputs of a panel, one after another. `odd` holds the blocks
// of the chunk's first turn; its lowest bit says whether sums continue.
inline void add_products_of_three_rows(const Chunk& chunk, const int8_t* w, Output* outputs) {
  // Pairs of fields; one instruction loads each pair.
  struct {
    Output* to;
    size_t back;  // from an output's last weights to the next one's first
  } place = {outputs, chunk.w_bytes - 64 - 4};
  const struct {
    const uint32_t* x;
    uint32_t turn;
  } start = {chunk.x, 2 * chunk.odd + (chunk.continued ? 1 : 0)};
  const Output* const to_end = outputs + 16;
  const uint64_t zeros = 0;
  const uint32_t* x;
  int32_t sum0, sum1, sum2;
  uint32_t even, odd, next;
  asm volatile(
      "5:\n"
      "ldrd %[x], %[odd], %[start]\n"
      "ldr %[next], [%[w]]\n"
      "ldrd %[sum0], %[sum1], %[zeros]\n"
      "mov %[sum2], %[sum0]\n" GOLDCREST_DSP_EXTEND_EVEN
      "cbz %[odd], 1f\n"
      "lsrs %[odd], %[odd], #1\n"
      "bcc 6f\n"
      "ldr %[even], %[to]\n"
      "ldr %[sum0], [%[even]]\n"
      "ldr %[sum1], [%[even], #64]\n"
      "ldr %[sum2], [%[even], #128]\n" GOLDCREST_DSP_EXTEND_EVEN
      "6:\n"
      "cbz %[odd], 1f\n"
      "cmp %[odd], #8\n"
      "beq 3f\n"
      "bcc 4f\n"
      "b 2f\n"
      "0:\n"
      "ldr %[next], [%[w], #64]!\n" GOLDCREST_DSP_EXTEND_EVEN
      "1:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_BLOCK) GOLDCREST_DSP_BLOCK
      "2:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_BLOCK) GOLDCREST_DSP_BLOCK
      "3:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_BLOCK) GOLDCREST_DSP_BLOCK
      "4:\n" GOLDCREST_DSP_THREE_TIMES(GOLDCREST_DSP_BLOCK) GOLDCREST_DSP_THREE_ROWS("", "cmp %[x], %[end]\n")
      "bne 0b\n"
      "ldrd %[next], %[odd], %[to]\n"
      "ldr %[even], %[to_end]\n"
      "str %[sum1], [%[next], #64]\n"
      "str %[sum2], [%[next], #128]\n"
      "str %[sum0], [%[next]], #4\n"
      "sub %[w], %[odd]\n"
      "str %[next], %[to]\n"
      "cmp %[next], %[even]\n"
      "bne 5b\n"
      : [x] "=&r"(x), [w] "+r"(w), [sum0] "=&r"(sum0), [sum1] "=&r"(sum1), [sum2] "=&r"(sum2), [even] "=&r"(even),
        [odd] "=&l"(odd), [next] "=&r"(next), [to] "+m"(place)
      : [start] "m"(start), [end] "r"(chunk.end), [to_end] "m"(to_end), [zeros] "m"(zeros)
      : "r8", "r9", "r10", "r11", "cc", "memory");
}

// Four rows by two outputs. Eight sums, r4 to r11 (row by row), and two pointers leave two registers to the weights and
// two to the inputs, so the weights' pairs are made in place. With weights w0 and w1 and u = w0 + 128,
//   (256 * w1 + u) * x1 + u * (256 * x0 - x1) = 256 * (w1 * x1 + w0 * x0 + 128 * x0).
// The first factor is the word with two bits flipped; u is that word without its upper bytes. The sums start with
// -256 * 128 times the sum of the x0 and are exact modulo 2^32; the results for a chunk's 128 inputs fit.
constexpr uint32_t kFirstSums = 4;  // words before the first block, one for each row
static_assert(kExpandedWords / 2 * 127 * 127 < 1 << 23);

// clang-format off
// Writes the odd inputs of four inputs of two rows and, 16 bytes further, 256 times the even inputs minus the odd ones.
#define GOLDCREST_DSP_EXPAND_TWO_ROWS(word0, word1, odd_at, even_at) \
  "sxtb16 %[odd0], " word0 ", ror #8\n" \
  "lsl " word0 ", " word0 ", #8\n" \
  "sxtb16 %[odd1], " word1 ", ror #8\n" \
  "lsl " word1 ", " word1 ", #8\n" \
  "strd %[odd0], %[odd1], [%[to], #" odd_at "]\n" \
  "bic " word0 ", " word0 ", #0x00ff00ff\n" \
  "bic " word1 ", " word1 ", #0x00ff00ff\n" \
  "ssub16 %[odd0], " word0 ", %[odd0]\n" \
  "smlad %[sum0], " word0 ", %[factor], %[sum0]\n" \
  "ssub16 %[odd1], " word1 ", %[odd1]\n" \
  "smlad %[sum1], " word1 ", %[factor], %[sum1]\n" \
  "strd %[odd0], %[odd1], [%[to], #" even_at "]\n"
// clang-format on

// Expands two of a tile's four rows, whose blocks are 32 bytes apart. blocks % 4 == 0, blocks > 0
inline void expand_two_rows(const int8_t* x0, const int8_t* x1, uint32_t blocks, uint32_t* to, uint32_t* first_sums) {
  const int8_t* const end = x0 + size_t{4} * blocks;
  uint32_t sum0 = 0, sum1 = 0, odd0, odd1;
  asm volatile(
      "1:\n"
      "ldrd r4, r5, [%[x0]], #8\n"
      "ldrd r6, r8, [%[x1]], #8\n" GOLDCREST_DSP_EXPAND_TWO_ROWS("r4", "r6", "0", "16")
          GOLDCREST_DSP_EXPAND_TWO_ROWS("r5", "r8", "32", "48")
      "ldrd r4, r5, [%[x0]], #8\n"
      "ldrd r6, r8, [%[x1]], #8\n" GOLDCREST_DSP_EXPAND_TWO_ROWS("r4", "r6", "64", "80")
          GOLDCREST_DSP_EXPAND_TWO_ROWS("r5", "r8", "96", "112")
      "add %[to], #128\n"
      "cmp %[x0], %[end]\n"
      "bne 1b\n"
      : [x0] "+r"(x0), [x1] "+r"(x1), [to] "+r"(to), [sum0] "+r"(sum0), [sum1] "+r"(sum1), [odd0] "=&r"(odd0),
        [odd1] "=&r"(odd1)
      : [end] "r"(end), [factor] "r"(0xff80ff80u)  // -128 and -128
      : "r4", "r5", "r6", "r8", "cc", "memory");
  first_sums[0] = sum0, first_sums[1] = sum1;
}

// Four inputs. The odd inputs of the first two rows are loaded before; those of the next block are loaded at the end.
// The inputs of the third and the fourth row cost two cycles as a pair, but this is one instruction less than two loads
// among the products. Three of eight blocks use single loads.
// clang-format off
#define GOLDCREST_DSP_EIGHT_PRODUCTS(load_third, load_fourth) \
  "smlad r4, %[x0], %[w0], r4\n" \
  "smlad r5, %[x0], %[w1], r5\n" \
  load_third \
  "smlad r6, %[x1], %[w0], r6\n" \
  "smlad r7, %[x1], %[w1], r7\n" \
  load_fourth \
  "smlad r8, %[x0], %[w0], r8\n" \
  "smlad r9, %[x0], %[w1], r9\n" \
  "smlad r10, %[x1], %[w0], r10\n" \
  "smlad r11, %[x1], %[w1], r11\n"
#define GOLDCREST_DSP_FOUR_BY_TWO(load_third, load_fourth) \
  "ldrd %[w0], %[w1], [%[w]], #64\n" \
  "eor %[w0], %[w0], #0x00800080\n" \
  "eor %[w1], %[w1], #0x00800080\n" \
  GOLDCREST_DSP_EIGHT_PRODUCTS("ldr %[x0], [%[x], #8]\n", "ldr %[x1], [%[x], #12]\n") \
  "ldrd %[x0], %[x1], [%[x], #16]\n" \
  "bic %[w0], %[w0], #0xff00ff00\n" \
  "bic %[w1], %[w1], #0xff00ff00\n" \
  GOLDCREST_DSP_EIGHT_PRODUCTS(load_third, load_fourth) \
  "ldrd %[x0], %[x1], [%[x], #32]!\n"
#define GOLDCREST_DSP_SCALE_DOWN(sum) "asrs " sum ", " sum ", #8\n"
#define GOLDCREST_DSP_GO_ON(sum0, sum1, at) \
  "ldrd %[w0], %[w1], [%[x0], #" at "]\n" \
  "add " sum0 ", %[w0], " sum0 ", asr #8\n" \
  "add " sum1 ", %[w1], " sum1 ", asr #8\n"
// clang-format on
#define GOLDCREST_DSP_ONE_PAIR GOLDCREST_DSP_FOUR_BY_TWO("", "ldrd %[x0], %[x1], [%[x], #24]\n")
#define GOLDCREST_DSP_NO_PAIR GOLDCREST_DSP_FOUR_BY_TWO("ldr %[x0], [%[x], #24]\n", "ldr %[x1], [%[x], #28]\n")

// outputs[r, j] (+)= products of four rows with the 16 outputs of a panel, two outputs a turn.
inline void add_products_of_four_rows(const Chunk& chunk, const int8_t* w, Output* outputs) {
  // Pairs of fields; one instruction loads each pair.
  struct {
    Output* to;
    size_t back;  // bytes from the end of two outputs' weights to the next two's start, plus 1 if sums continue
  } place = {outputs, chunk.w_bytes - 8 + (chunk.continued ? 1 : 0)};
  const struct {
    const uint32_t* x;
    uint32_t odd;
  } start = {chunk.x, chunk.odd};
  const Output* const to_end = outputs + 16;
  const uint32_t* x;
  uint32_t x0, x1, w0, w1;
  // clang-format off
  asm volatile(
      "5:\n"
      "ldrd %[x], %[x0], %[start]\n"
      "ldmia %[x], {r4, r6, r8, r10}\n"
      "ldmia %[x]!, {r5, r7, r9, r11}\n"
      "cbz %[x0], 0f\n"
      "ldrd %[x0], %[x1], [%[x]]\n"
      "b 2f\n"
      "0:\n"
      "ldrd %[x0], %[x1], [%[x]]\n"
      "1:\n"
      GOLDCREST_DSP_ONE_PAIR GOLDCREST_DSP_NO_PAIR GOLDCREST_DSP_ONE_PAIR GOLDCREST_DSP_NO_PAIR
      "2:\n"
      GOLDCREST_DSP_ONE_PAIR GOLDCREST_DSP_NO_PAIR GOLDCREST_DSP_ONE_PAIR GOLDCREST_DSP_ONE_PAIR
      "cmp %[x0], %[end]\n"
      "bne 1b\n"
      "ldrd %[x0], %[x1], %[to]\n"
      "lsrs %[w0], %[x1], #1\n"
      "bcs 4f\n"
      GOLDCREST_DSP_SCALE_DOWN("r4") GOLDCREST_DSP_SCALE_DOWN("r5")
      GOLDCREST_DSP_SCALE_DOWN("r6") GOLDCREST_DSP_SCALE_DOWN("r7")
      GOLDCREST_DSP_SCALE_DOWN("r8") GOLDCREST_DSP_SCALE_DOWN("r9")
      GOLDCREST_DSP_SCALE_DOWN("r10") GOLDCREST_DSP_SCALE_DOWN("r11")
      "3:\n"
      "ldr %[w0], %[to_end]\n"
      "strd r6, r7, [%[x0], #64]\n"
      "strd r8, r9, [%[x0], #128]\n"
      "strd r10, r11, [%[x0], #192]\n"
      "strd r4, r5, [%[x0]], #8\n"
      "sub %[w], %[x1]\n"
      "str %[x0], %[to]\n"
      "cmp %[x0], %[w0]\n"
      "bne 5b\n"
      "b 6f\n"
      "4:\n"
      GOLDCREST_DSP_GO_ON("r4", "r5", "0") GOLDCREST_DSP_GO_ON("r6", "r7", "64")
      GOLDCREST_DSP_GO_ON("r8", "r9", "128") GOLDCREST_DSP_GO_ON("r10", "r11", "192")
      "add %[w], #1\n"
      "b 3b\n"
      "6:\n"
      // clang-format on
      : [x] "=&l"(x), [w] "+r"(w), [x0] "=&l"(x0), [x1] "=&l"(x1), [w0] "=&r"(w0), [w1] "=&r"(w1), [to] "+m"(place)
      : [start] "m"(start), [end] "i"(kEndOfChunk), [to_end] "m"(to_end)
      : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "cc", "memory");
}
}}      // namespace goldcrest
#endif  // __OPTIMIZE__
