// SPDX-License-Identifier: Apache-2.0
// Tiles of three rows and more for tables with VPDPBUSD, whose one factor is unsigned: 128 more than it is. Here that
// is the weights, which all rows share; with fewer rows it is the activations, which need not be summed before.

namespace goldcrest {
namespace {

// A linear layer and 128 times the sum of each row's activations.
struct SummedArgs : LinearArgs<int8_t> {
  static constexpr uint32_t kMostRows = 256;
  int32_t excess[kMostRows];
};

inline void sum_rows(const LinearArgs<int8_t>& args, SummedArgs& summed) {
  LinearArgs<int8_t>& layer = summed;
  layer = args;
  const int8_t* x = args.x;
  for (uint32_t row = 0; row < args.rows; ++row, x += args.k) summed.excess[row] = 128 * sum_inputs(x, args.k);
}

inline V finish_sums(const SummedArgs& args, Acc sums, uint32_t row, uint32_t) {
  return finish_less(sums, args.excess[row]);
}

template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const SummedArgs& args, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k, panel_bytes = 16 * k;
  const int8_t* x = args.x + first_row * k;
  const int8_t* const tile = args.w + first_output * k;
  const int8_t* w = tile;
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 64);
  Acc acc[kRows][kPanels] = {};
  for (size_t block = 0; block < k; block += 4, x += 4, w += 64, soon.at += soon.step) {
    W weights[kPanels];
    unrolled<kPanels>([&](int p) { weights[p] = load_unsigned(w + static_cast<size_t>(p) * panel_bytes); });
    unrolled<kRows>([&](int r) {
      const X input = broadcast_signed(x + static_cast<size_t>(r) * k);
      unrolled<kPanels>([&](int p) { acc[r][p] = accumulate_unsigned(acc[r][p], weights[p], input); });
    });
    unrolled<kPanels>([&](int p) { prefetch(tile, soon.at + static_cast<size_t>(p) * soon.panel_step); });
  }
  Acc sums[kRows][kPanels];  // in memory: finish_tile loops over them
  unrolled<kRows>([&](int r) { unrolled<kPanels>([&](int p) { sums[r][p] = acc[r][p]; }); });
  finish_tile(args, first_row, first_output, sums);
}

void linear_by_rows(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4 || args.rows < 3) return linear(args);
  if (args.rows <= SummedArgs::kMostRows) {
    SummedArgs summed;
    sum_rows(args, summed);
    return linear_panels(summed);
  }
  LinearArgs<int8_t> some = args;
  for (uint32_t row = 0; row < args.rows; row += some.rows) {
    const uint32_t left = args.rows - row;
    some.rows = left < SummedArgs::kMostRows ? left : SummedArgs::kMostRows;
    some.x = args.x + size_t{row} * args.k;
    some.x_scale = args.x_scale + row;
    some.y = args.y + row * args.y_stride;
    if (args.residual != nullptr) some.residual = args.residual + row * args.y_stride;
    linear_by_rows(some);
  }
}

void output_block_by_rows(const OutputBlockArgs<int8_t>& args) {
  linear_by_rows(args.linear);
  output_block_sums(args);
}

}  // namespace
}  // namespace goldcrest
