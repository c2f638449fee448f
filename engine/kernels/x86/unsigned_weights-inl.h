// SPDX-License-Identifier: Apache-2.0
// Tiles of three rows and more for tables with VPDPBUSD, one factor of which is unsigned: 128 is added to it. Here this
// is the weights, which all rows share. With fewer rows it is the activations: the file has the sums that
// this needs. x86_avx512vnni takes these tiles only for keys in panels, whose sums nobody has (unsigned_inputs-inl.h).

namespace goldcrest { namespace {
// A linear layer, and 128 times the sum of each row's activations.
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

inline V finish_sums(const SummedArgs& args, Acc sums, size_t row, size_t) {
  return finish_less(sums, args.excess[row]);
}

template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const SummedArgs& args, uint32_t first_row, uint32_t first_output) {
  const size_t k = args.k, panel_bytes = 16 * k;
  // Two pointers, because with one GCC keeps eight offsets and spills some.
  const int8_t *x = args.x + first_row * k, *x_from_4 = x + 4 * k;
  asm("" : "+r"(x_from_4));
  const int8_t* const tile = args.w + first_output * k;
  const int8_t* w = tile;
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 64 * kSplit);
  Acc acc[kSplit][kRows][kPanels] = {};
  for (size_t block = 0; block < k;
       block += 4 * kSplit, x += 4 * kSplit, x_from_4 += 4 * kSplit, w += 64 * kSplit, soon.at += soon.step) {
    unrolled<kSplit>([&](int s) {
      W weights[kPanels];
      unrolled<kPanels>([&](int p) { weights[p] = load_unsigned(w + static_cast<size_t>(p) * panel_bytes + 64 * s); });
      unrolled<kRows>([&](int r) {
        const X input = broadcast_signed((r < 4 ? x : x_from_4) + static_cast<size_t>(r % 4) * k + 4 * s);
        unrolled<kPanels>([&](int p) { acc[s][r][p] = accumulate_unsigned(acc[s][r][p], weights[p], input); });
      });
    });
    prefetch_tile<kPanels, kSplit>(tile, soon);
  }
  Acc sums[kRows][kPanels];
  add_splits(acc, sums);
  finish_tile(args, first_row, first_output, sums);
}

void linear_by_rows(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  if (args.rows == 1) return linear_one_row(args);
  if (args.rows < 3) return linear_some_rows<2>(args, 0, args.rows, 0, args.n);
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
}}  // namespace goldcrest
