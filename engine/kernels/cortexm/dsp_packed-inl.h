// SPDX-License-Identifier: Apache-2.0
// The products of packed weights in N16K4: one row by four outputs, or four rows by one. AND with a shifted operand
// yields pairs of nibbles. A group's sums begin with -8 times the sum of its inputs; its multipliers enter once.
#pragma once

#include "kernels/cortexm/dsp_products-inl.h"

#if defined(__OPTIMIZE__)
namespace goldcrest { namespace {
// Expands some inputs of some rows, group by group: for each row -8 times the sum of its inputs, then for each four
// inputs the pairs of all rows. Inputs that the last group lacks are 0.
__attribute__((noinline)) void expand_groups(
    const int8_t* from, size_t k, uint32_t inputs, uint32_t rows, uint32_t* to) {
  for (uint32_t r = 0; r < rows; ++r, from += k) {
    uint32_t* start = to + r;
    uint32_t* pairs = to + rows + 2 * r;
    for (const int8_t *x = from, *const end = from + inputs; x < end; start += 17 * rows, pairs += rows) {
      int32_t sum = 0;
#pragma GCC unroll 1
      for (uint32_t i = 0; i < 8; ++i, x += 4, pairs += 2 * rows) {
        const uint32_t word = x < end ? static_cast<uint32_t>(load_word(x)) : 0, even = even_bytes(word);
        pairs[0] = even;
        pairs[1] = odd_bytes(word);
        sum = add_products(even, 0xfff8fff8u, add_products(pairs[1], 0xfff8fff8u, sum));
      }
      *start = static_cast<uint32_t>(sum);
    }
  }
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
  "ldr r4, [%[x]], #4\nmov r5, r4\nmov r6, r4\nmov r7, r4\n" GOLDCREST_DSP_BEGIN_BLOCKS \
  "ldmia %[x]!, {r8-r11}\nldrd %[even], %[odd], [%[w]], #8\n" \
  GOLDCREST_DSP_TIMES_NIBBLES("r4", "%[even]") GOLDCREST_DSP_TIMES_NIBBLES("r5", "%[odd]") \
  "ldrd %[even], %[odd], [%[w]], #56\n" \
  GOLDCREST_DSP_TIMES_NIBBLES("r6", "%[even]") GOLDCREST_DSP_TIMES_NIBBLES("r7", "%[odd]") GOLDCREST_DSP_END_BLOCKS
#define GOLDCREST_DSP_SCALE_GROUP_OF_ROW \
  "ldr %[pair], [%[even]], #16\nstr %[even], %[place]\nldmia %[odd], {r8-r11}\n" \
  "sxtb %[even], %[pair]\nmla r8, %[even], r4, r8\nsxtb %[even], %[pair], ror #8\nmla r9, %[even], r5, r9\n" \
  "sxtb %[even], %[pair], ror #16\nmla r10, %[even], r6, r10\nasr %[even], %[pair], #24\n" \
  "mla r11, %[even], r7, r11\nstmia %[odd], {r8-r11}\n"

// Four inputs of four rows by one output, whose weights are in even and odd.
#define GOLDCREST_DSP_TWO_ROWS(first, second) \
  "ldmia %[x]!, {r8-r11}\nsmlad " first ", %[even], r8, " first "\nsmlad " second ", %[even], r10, " second "\n" \
  "smlad " first ", %[odd], r9, " first "\nsmlad " second ", %[odd], r11, " second "\n"
#define GOLDCREST_DSP_GROUP_OF_FOUR_ROWS \
  "ldmia %[x]!, {r4-r7}\n" GOLDCREST_DSP_BEGIN_BLOCKS "ldr %[pair], [%[w]], #64\n" \
  GOLDCREST_DSP_LOWEST_NIBBLES("%[even]", "%[pair]") GOLDCREST_DSP_NIBBLES("%[odd]", "%[pair]", "8") \
  GOLDCREST_DSP_TWO_ROWS("r4", "r5") GOLDCREST_DSP_TWO_ROWS("r6", "r7") \
  GOLDCREST_DSP_NIBBLES("%[even]", "%[pair]", "4") GOLDCREST_DSP_NIBBLES("%[odd]", "%[pair]", "12") \
  GOLDCREST_DSP_TWO_ROWS("r4", "r5") GOLDCREST_DSP_TWO_ROWS("r6", "r7") GOLDCREST_DSP_END_BLOCKS
#define GOLDCREST_DSP_SCALE_GROUP_OF_FOUR_ROWS \
  "ldrsb %[pair], [%[even]], #16\nstr %[even], %[place]\n" \
  "ldr r8, [%[odd]]\nldr r9, [%[odd], #64]\nldr r10, [%[odd], #128]\nldr r11, [%[odd], #192]\n" \
  "mla r8, %[pair], r4, r8\nmla r9, %[pair], r5, r9\nmla r10, %[pair], r6, r10\nmla r11, %[pair], r7, r11\n" \
  "str r8, [%[odd]]\nstr r9, [%[odd], #64]\nstr r10, [%[odd], #128]\nstr r11, [%[odd], #192]\n"

#define GOLDCREST_DSP_ALL_GROUPS(group, scale) \
  asm volatile("5:\n" group \
      "ldrd %[even], %[odd], %[place]\n" scale \
      "ldr %[even], %[end]\n" "cmp %[x], %[even]\n" "bne 5b\n" \
      : [x] "+r"(x), [w] "+r"(w), [mask] "+r"(mask), [even] "=&r"(even), [odd] "=&r"(odd), [pair] "=&r"(pair), \
        [place] "+m"(place) \
      : [end] "m"(end) \
      : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "cc", "memory")
// clang-format on

// One instruction loads both fields. The next group's multipliers are 16 further. One row: of four outputs. Four
// rows: of one output, 16 apart.
struct PackedSums {
  const int8_t* multipliers;
  Output* sums;
};

// Adds the products of all groups, which end at `end`, with the outputs of a panel. rows: 1 or 4
__attribute__((noinline)) void add_groups(
    const uint32_t* first, const uint32_t* end, const int8_t* panel, PackedSums sums, uint32_t rows) {
  const uint32_t together = rows == 1 ? 4 : 1;
  for (const int8_t* const end_of_panel = panel + 64; panel < end_of_panel; panel += 4 * together) {
    PackedSums place = sums;
    const uint32_t* x = first;
    const int8_t* w = panel;
    uint32_t mask = kNibbles, even, odd, pair;
    if (rows == 1) GOLDCREST_DSP_ALL_GROUPS(GOLDCREST_DSP_GROUP_OF_ROW, GOLDCREST_DSP_SCALE_GROUP_OF_ROW);
    else GOLDCREST_DSP_ALL_GROUPS(GOLDCREST_DSP_GROUP_OF_FOUR_ROWS, GOLDCREST_DSP_SCALE_GROUP_OF_FOUR_ROWS);
    sums.multipliers += together;
    sums.sums += together;
  }
}
}}      // namespace goldcrest
#endif  // __OPTIMIZE__
