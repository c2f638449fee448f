// SPDX-License-Identifier: Apache-2.0
// The products of packed weights in N16K4: one row by four outputs, or four rows by one. AND with a shifted operand
// yields pairs of nibbles. A group's sums begin with -8 times the sum of its inputs; its multipliers enter once.
#pragma once

#include "kernels/cortexm/dsp_products-inl.h"

#if defined(__OPTIMIZE__)
namespace goldcrest { namespace {
// Expands some inputs of some rows, group by group: for each row -8 times the sum of its inputs, then for each four
// inputs the pairs of all rows. All take two words a row. Inputs that the last group lacks are 0. Returns the end.
__attribute__((noinline)) const uint32_t* expand_groups(
    const int8_t* x, size_t k, uint32_t inputs, uint32_t rows, uint32_t* expanded) {
  uint32_t* to = expanded;
  for (uint32_t r = rows; r-- > 0;) {  // the last row's end is the end of all
    const int8_t *from = x + r * k, *const end = from + inputs;
    to = expanded + 2 * r;
    do {
      uint32_t* const start = to;
      int32_t sum = 0;
#pragma GCC unroll 1
      for (uint32_t i = 0; i < 8; ++i, from += 4) {
        const uint32_t word = from < end ? static_cast<uint32_t>(load_word(from)) : 0;
        to += 2 * rows;
        asm("" : "+r"(from), "+r"(to));  // keeps the compiler from copies of both, which take flash
        to[0] = even_bytes(word);
        to[1] = odd_bytes(word);
        sum = add_products(to[0], 0xfff8fff8u, add_products(to[1], 0xfff8fff8u, sum));
      }
      *start = static_cast<uint32_t>(sum);
      to += 2 * rows;
    } while (from < end);
  }
  return to;
}

// clang-format off
// Before a group's blocks, which begin at label 1, mask is kNibbles. Its highest four bits, which no shifted nibble
// meets, then count four blocks of eight inputs.
constexpr uint32_t kNibbles = 0xf00f000fu;
#define GOLDCREST_DSP_BEGIN_BLOCKS "add %[mask], #0x40000000\n1:\n"
#define GOLDCREST_DSP_END_BLOCKS "subs %[mask], #0x10000000\nbcs 1b\n"
#define GOLDCREST_DSP_NIBBLES(to, w, shift) "and " to ", %[mask], " w ", lsr #" shift "\n"
#define GOLDCREST_DSP_LOWEST_NIBBLES(to, w) "and " to ", " w ", #0x000f000f\n"

// Eight inputs of a row by one output.
#define GOLDCREST_DSP_TIMES_NIBBLES(sum, w) \
  GOLDCREST_DSP_LOWEST_NIBBLES("%[pair]", w) "smlad " sum ", %[pair], r8, " sum "\n" \
  GOLDCREST_DSP_NIBBLES("%[pair]", w, "8") "smlad " sum ", %[pair], r9, " sum "\n" \
  GOLDCREST_DSP_NIBBLES("%[pair]", w, "4") "smlad " sum ", %[pair], r10, " sum "\n" \
  GOLDCREST_DSP_NIBBLES("%[pair]", w, "12") "smlad " sum ", %[pair], r11, " sum "\n"
#define GOLDCREST_DSP_GROUP_OF_ROW \
  "ldr r4, [%[x]], #8\nmov r5, r4\nmov r6, r4\nmov r7, r4\n" GOLDCREST_DSP_BEGIN_BLOCKS \
  "ldmia %[x]!, {r8-r11}\nldrd %[even], %[odd], [%[w]], #8\n" \
  GOLDCREST_DSP_TIMES_NIBBLES("r4", "%[even]") GOLDCREST_DSP_TIMES_NIBBLES("r5", "%[odd]") \
  "ldrd %[even], %[odd], [%[w]], #56\n" \
  GOLDCREST_DSP_TIMES_NIBBLES("r6", "%[even]") GOLDCREST_DSP_TIMES_NIBBLES("r7", "%[odd]") GOLDCREST_DSP_END_BLOCKS
// After the 16th output of a panel the sums go on with the first one, x and w with the next group.
#define GOLDCREST_DSP_NEXT_OUTPUT(label, x_bytes, w_bytes, last_w_bytes) \
  "ittee ne\nsubne %[x], " x_bytes "\nsubne %[w], " w_bytes "\nsubeq %[w], " last_w_bytes "\nsubeq %[odd], #64\n" \
  "str %[odd], %[sums]\nbne " label "\nldr %[even], %[end]\ncmp %[x], %[even]\nbne " label "\n"
#define GOLDCREST_DSP_SCALE_GROUP_OF_ROW \
  "ldrd %[even], %[odd], %[place]\nldr %[pair], [%[even]], #4\nstr %[even], %[place]\ntst %[even], #15\n" \
  "ldmia %[odd], {r8-r11}\n" \
  "sxtb %[even], %[pair]\nmla r8, %[even], r4, r8\nsxtb %[even], %[pair], ror #8\nmla r9, %[even], r5, r9\n" \
  "sxtb %[even], %[pair], ror #16\nmla r10, %[even], r6, r10\nasr %[even], %[pair], #24\n" \
  "mla r11, %[even], r7, r11\nstmia %[odd]!, {r8-r11}\n" GOLDCREST_DSP_NEXT_OUTPUT("5b", "#72", "#240", "#48")

// Four inputs of four rows by one output, whose weights are in even and odd.
#define GOLDCREST_DSP_TWO_ROWS(first, second) \
  "ldmia %[x]!, {r5, r7, r9, r11}\n" \
  "smlad " first ", %[even], r5, " first "\nsmlad " second ", %[even], r9, " second "\n" \
  "smlad " first ", %[odd], r7, " first "\nsmlad " second ", %[odd], r11, " second "\n"
#define GOLDCREST_DSP_GROUP_OF_FOUR_ROWS \
  "ldmia %[x]!, {r4-r11}\n" GOLDCREST_DSP_BEGIN_BLOCKS "ldr %[pair], [%[w]], #64\n" \
  GOLDCREST_DSP_LOWEST_NIBBLES("%[even]", "%[pair]") GOLDCREST_DSP_NIBBLES("%[odd]", "%[pair]", "8") \
  GOLDCREST_DSP_TWO_ROWS("r4", "r6") GOLDCREST_DSP_TWO_ROWS("r8", "r10") \
  GOLDCREST_DSP_NIBBLES("%[even]", "%[pair]", "4") GOLDCREST_DSP_NIBBLES("%[odd]", "%[pair]", "12") \
  GOLDCREST_DSP_TWO_ROWS("r4", "r6") GOLDCREST_DSP_TWO_ROWS("r8", "r10") GOLDCREST_DSP_END_BLOCKS
#define GOLDCREST_DSP_SCALE_GROUP_OF_FOUR_ROWS \
  "ldrd %[even], %[odd], %[place]\nldrsb %[pair], [%[even]], #1\nstr %[even], %[place]\ntst %[even], #15\n" \
  "ldr r5, [%[odd]]\nldr r7, [%[odd], #64]\nldr r9, [%[odd], #128]\nldr r11, [%[odd], #192]\n" \
  "mla r5, %[pair], r4, r5\nmla r7, %[pair], r6, r7\nmla r9, %[pair], r8, r9\nmla r11, %[pair], r10, r11\n" \
  "str r7, [%[odd], #64]\nstr r9, [%[odd], #128]\nstr r11, [%[odd], #192]\nstr r5, [%[odd]], #4\n" \
  GOLDCREST_DSP_NEXT_OUTPUT("6b", "#288", "#252", "#60")
// clang-format on

// One instruction loads both fields. One row: of four outputs. Four rows: of one output, 16 apart.
struct PackedSums {
  const int8_t* multipliers;  // aligned to 16
  Output* sums;
};

// Adds the products of all groups, which end at `end`, with the outputs of a panel. Moves `w` and `place` on to the
// next group. rows: 1 or 4
inline void add_groups(
    const uint32_t* x, const uint32_t* end, const int8_t*& w, PackedSums& place, const uint32_t& rows) {
  uint32_t mask = kNibbles, even, odd, pair;
  asm volatile(
      "ldr %[even], %[rows]\ncmp %[even], #1\nbne 6f\n"
      "5:\n" GOLDCREST_DSP_GROUP_OF_ROW GOLDCREST_DSP_SCALE_GROUP_OF_ROW
      "b 7f\n"
      "6:\n" GOLDCREST_DSP_GROUP_OF_FOUR_ROWS GOLDCREST_DSP_SCALE_GROUP_OF_FOUR_ROWS "7:\n"
      : [x] "+r"(x), [w] "+r"(w), [mask] "+r"(mask), [even] "=&r"(even), [odd] "=&l"(odd), [pair] "=&r"(pair),
      [place] "+m"(place), [sums] "+m"(place.sums)
      : [end] "m"(end), [rows] "m"(rows)
      : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "cc", "memory");
}
}}      // namespace goldcrest
#endif  // __OPTIMIZE__
