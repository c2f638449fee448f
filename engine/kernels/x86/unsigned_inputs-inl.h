// SPDX-License-Identifier: Apache-2.0
// Tiles of three rows and more, on AMD's CPUs of two, where both factors of VPDPBUSD come from memory as they are: 128
// is added to the inputs once for all outputs, so a tile has no other vector operations than its products. 128 times
// the file's weight sums is subtracted before the first product. Needs the weight sums; vector/shared_attention-inl.h
// has none.
#include "kernels/x86/unsigned_weights-inl.h"

namespace goldcrest {
namespace {

// Inputs + 128 on the stack: of a layer with long rows, and of the others. An output layer's caller has logits there
// too. More rows than fit are computed in groups, which share the weights of kGroupBytes from a cache.
constexpr size_t kLongInputBytes = 65536, kInputBytes = 32768, kGroupBytes = 524288;
constexpr uint32_t kLongRow = kInputBytes / 32 + 1;  // 32 rows do not fit

// Without prefetches two rows of this many inputs take 0.9 of the time of linear_by_rows. Longer rows are those of
// larger models, whose weights come from memory: there one stream with prefetches is 1.2 times as fast.
constexpr uint32_t kFewInputs = 256;

// A linear layer whose x are inputs + 128. With 2 or 4 turns, as many blocks of rows prefetch a part of the next tile
// each, because memory is slower than one block. A part is one stream: other orders took 1.15 times as long. With 0
// turns nothing is prefetched.
struct UnsignedArgs : LinearArgs<int8_t> {
  uint32_t turns;
};

inline V finish_sums(const UnsignedArgs&, Acc sums, size_t, size_t) { return to_floats(sums); }

template <int kRows, int kPanels, int, bool>
inline void linear_tile(const UnsignedArgs& args, uint32_t first_row, uint32_t first_output) {
  constexpr int kBlocks = 2;  // of a step
  const size_t k = args.k, panel_bytes = 16 * k;
  // Two pointers, because with one GCC keeps eight offsets and spills some.
  const int8_t *x = args.x + first_row * k, *x_from_4 = x + 4 * k;
  asm("" : "+r"(x_from_4));
  const int8_t* const tile = args.w + first_output * k;
  const int8_t* w = tile;
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 64 * kBlocks);
  const uint32_t turns = args.turns;
  if (turns > 1) {
    const size_t part_bytes = kPanels * panel_bytes / turns, turn = first_row / 8 % turns;
    soon = {(turns + turn) * part_bytes, 64, kPanels * 64 * kBlocks / turns};
  }
  Acc acc[kRows][kPanels];
  unrolled<kPanels>([&](int p) {
    const Acc start = minus_128_times(args.weight_sum + first_output + 16 * static_cast<size_t>(p));
    unrolled<kRows>([&](int r) { acc[r][p] = start; });
  });
  for (size_t block = 0; block < k;
       block += 4 * kBlocks, x += 4 * kBlocks, x_from_4 += 4 * kBlocks, w += 64 * kBlocks, soon.at += soon.step) {
    unrolled<kBlocks>([&](int b) {
      W weights[kPanels];
      unrolled<kPanels>([&](int p) { weights[p] = load_panel(w + static_cast<size_t>(p) * panel_bytes + 64 * b); });
      unrolled<kRows>([&](int r) {
        const X input = broadcast_bytes((r < 4 ? x : x_from_4) + static_cast<size_t>(r % 4) * k + 4 * b);
        unrolled<kPanels>([&](int p) { acc[r][p] = accumulate_products(acc[r][p], input, weights[p]); });
      });
    });
    if (turns == 4)
      prefetch(tile, soon.at);
    else if (turns == 2)
      prefetch_tile<2, 1>(tile, soon);
    else if (turns == 1)
      prefetch_tile<kPanels, kBlocks>(tile, soon);
  }
  finish_tile(args, first_row, first_output, acc);
}

// Two rows of few inputs. Four panels hide the latency of their products, and their weights come as four streams.
__attribute__((noinline, flatten)) void linear_two_rows(const UnsignedArgs& args) {
  uint32_t output = 0;
  for (; output + 64 <= args.n; output += 64) linear_tile<2, 4, 1, false>(args, 0, output);
  for (; output < args.n; output += 16) linear_tile<2, 1, 1, false>(args, 0, output);
}

// Computes `rows` rows from `first` on, of n outputs from `output` on. x: their inputs + 128. turns_of_few: of fewer
// than 16 rows.
inline void linear_unsigned(const LinearArgs<int8_t>& args, const int8_t* x, uint32_t first, uint32_t rows,
                            uint32_t output, uint32_t n, uint32_t turns_of_few) {
  UnsignedArgs part;
  part.turns = rows >= 32 ? 4 : rows >= 16 ? 2 : turns_of_few;  // at most the blocks
  static_cast<LinearArgs<int8_t>&>(part) = args;
  const size_t at = first * args.y_stride + output;
  part.x = x;
  part.x_scale = args.x_scale + first;
  part.w = args.w + output * size_t{args.k};
  part.w_scale = args.w_scale + output;
  part.bias = args.bias + output;
  part.weight_sum = args.weight_sum + output;
  if (args.residual != nullptr) part.residual = args.residual + at;
  part.y = args.y + at;
  part.rows = rows;
  part.n = n;
  if (rows == 2) return linear_two_rows(part);
  linear_panels(part);
}

// noinline: the buffer is on the stack only where it is needed.
template <size_t kBytes>
__attribute__((noinline)) void linear_in_groups(const LinearArgs<int8_t>& args, uint32_t turns_of_few) {
  alignas(64) int8_t x[kBytes];
  const uint32_t fit = static_cast<uint32_t>(kBytes / args.k) / 8 * 8;
  const uint32_t groups = (args.rows + fit - 1) / fit;
  const uint32_t outputs_fit = static_cast<uint32_t>(kGroupBytes / args.k) / 32 * 32;
  const uint32_t step = groups == 1 || outputs_fit >= args.n ? args.n : outputs_fit;
  for (uint32_t output = 0; output < args.n; output += step) {
    const uint32_t n = args.n - output < step ? args.n - output : step;
    for (uint32_t group = 0, row = 0; group < groups; ++group) {  // of nearly equal size: none has a single row
      const uint32_t rows = (args.rows - row) / (groups - group);
      add_128(args.x + row * size_t{args.k}, rows * size_t{args.k}, x);
      linear_unsigned(args, x, row, rows, output, n, turns_of_few);
      row += rows;
    }
  }
}

// kPrefetchesFew: whether fewer than 16 rows, which mostly wait for weights, prefetch them.
template <size_t kLongBytes, bool kPrefetchesFew>
void linear_unsigned_inputs(const LinearArgs<int8_t>& args) {
  constexpr size_t kMostInputs = kLongBytes / 8;  // of a row: eight rows fit
  constexpr uint32_t kTurnsOfFew = kPrefetchesFew ? 1 : 0;
  const uint32_t least_rows = !kPrefetchesFew && args.k <= kFewInputs ? 2 : 3;
  if (args.rows == 1 && args.layout == Layout::kN16K4) return linear_one_row<kPrefetchesFew>(args);
  if (args.rows < least_rows || args.k > kMostInputs || args.layout != Layout::kN16K4) return linear_by_rows(args);
  const size_t x_bytes = args.rows * size_t{args.k};
  if (args.shared == nullptr || x_bytes > sizeof args.shared->bytes)
    return args.k < kLongRow ? linear_in_groups<kInputBytes>(args, kTurnsOfFew)
                             : linear_in_groups<kLongBytes>(args, kTurnsOfFew);
  int8_t* const x = reinterpret_cast<int8_t*>(args.shared->bytes);
  if (!args.shared->made) add_128(args.x, x_bytes, x);
  args.shared->made = true;
  linear_unsigned(args, x, 0, args.rows, 0, args.n, kTurnsOfFew);
}

}  // namespace
}  // namespace goldcrest
