// SPDX-License-Identifier: Apache-2.0
// Prints the bounds of a linear layer on the model of Cortex-M7: cycles and instructions of its inner loop for 16
// products. The tiles differ in how many rows and outputs share a loaded word.
#include <cstdio>

#include "arm_cycles/cortexm_turn.h"

namespace {

using Lines = std::vector<std::string>;

Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Each loop has 16 products and begins with values that the previous turn loaded. All are from
// engine/kernels/cortexm/dsp_products-inl.h, except four by one, which four by two has replaced there.
const Lines kOneByFour = {
    "sxtb16 sl, r2",         "smlad r7, r5, r1, r7",  "ldrd r0, r1, [r8], #8", "ldrd r4, r5, [r9], #56",
    "sxtb16 r2, r2, ror #8", "smlad r6, sl, r0, r6",  "sxtb16 sl, r3",         "smlad r6, r2, r1, r6",
    "sxtb16 r3, r3, ror #8", "smlad fp, sl, r0, fp",  "sxtb16 sl, r4",         "smlad fp, r3, r1, fp",
    "ldrd r2, r3, [r9], #8", "sxtb16 r4, r4, ror #8", "smlad ip, sl, r0, ip",  "sxtb16 sl, r5",
    "smlad ip, r4, r1, ip",  "sxtb16 r5, r5, ror #8", "smlad r7, sl, r0, r7"};
const Lines kTwoByTwo = {"sxtb16 r6, r7",         "smlad r3, lr, fp, r3",  "ldmia.w r4!, {r8, r9, sl, fp}",
                         "sxtb16 r7, r7, ror #8", "smlad r0, r6, r8, r0",  "ldr lr, [r5, #4]",
                         "smlad r2, r6, sl, r2",  "smlad r0, r7, r9, r0",  "sxtb16 r6, lr",
                         "smlad r2, r7, fp, r2",  "sxtb16 lr, lr, ror #8", "smlad r1, r6, r8, r1",
                         "ldr r7, [r5, #64]!",    "smlad r3, r6, sl, r3",  "smlad r1, lr, r9, r1"};
const Lines kFourByOne = {"ldmia.w ip!, {r8, r9, sl, fp}", "sxtb16 r2, lr, ror #8",         "smlad r0, r7, r8, r0",
                          "ldr.w lr, [r3, #64]!",          "smlad r4, r7, sl, r4",          "smlad r0, r2, r9, r0",
                          "smlad r4, r2, fp, r4",          "ldmia.w ip!, {r8, r9, sl, fp}", "smlad r5, r7, r8, r5",
                          "smlad r6, r7, sl, r6",          "smlad r5, r2, r9, r5",          "sxtb16 r7, lr",
                          "smlad r6, r2, fp, r6"};
// The eight products that follow the first two rows' inputs; `loads` fetch the inputs of the other two rows.
Lines eight_products(const Lines& third, const Lines& fourth) {
  return Lines{"smlad r4, r0, r2, r4", "smlad r5, r0, r3, r5"} + third +
         Lines{"smlad r6, r1, r2, r6", "smlad r7, r1, r3, r7"} + fourth +
         Lines{"smlad r8, r0, r2, r8", "smlad r9, r0, r3, r9", "smlad sl, r1, r2, sl", "smlad fp, r1, r3, fp"};
}

// 32 products. The inputs of two rows are loaded in pairs, or one by one if `odd_alone` or `even_alone`.
Lines four_by_two(bool odd_alone, bool even_alone) {
  const Lines third = {"ldr.w r0, [lr, #8]"}, fourth = {"ldr.w r1, [lr, #12]"}, pair = {"ldrd r0, r1, [lr, #8]"};
  const Lines odd = odd_alone ? eight_products(third, fourth) : eight_products({}, pair);
  const Lines even = even_alone ? eight_products(third, fourth) : eight_products({}, pair);
  return Lines{"ldrd r2, r3, [ip], #64", "eor.w r2, r2, #8388736", "eor.w r3, r3, #8388736"} + odd +
         Lines{"ldrd r0, r1, [lr, #16]", "bic.w r2, r2, #4278255360", "bic.w r3, r3, #4278255360"} + even +
         Lines{"ldrd r0, r1, [lr, #32]!"};
}

void print(const char* tile, const Lines& lines, int blocks) {
  const double cycles = arm_cycles::cycles_a_turn("M7", lines) / blocks;
  const double instructions = static_cast<double>(lines.size()) / blocks;
  std::printf("  %-56s %5.2f cycles, %5.2f instructions: %5.3f multiply-accumulates a cycle\n", tile, cycles,
              instructions, 16 / cycles);
}

}  // namespace

int main() {
  std::printf("M7, only the inner loops, 16 products\n");
  print("one row by four outputs", kOneByFour, 1);
  print("two rows by two outputs", kTwoByTwo, 1);
  print("four rows by one output", kFourByOne, 1);
  const Lines one_pair = four_by_two(true, false), no_pair = four_by_two(true, true);
  print("four rows by two outputs, all inputs in pairs", four_by_two(false, false), 2);
  print("four rows by two outputs, one pair more than needed", one_pair, 2);
  print("four rows by two outputs, three of eight blocks without",
        one_pair + no_pair + one_pair + no_pair + one_pair + no_pair + one_pair + one_pair, 16);
  print("four rows by two outputs, all without", no_pair, 2);
  return 0;
}
