// SPDX-License-Identifier: Apache-2.0
// A tile of a linear layer on the vectors of vector/kernels-inl.h. The compiler chooses the order of instructions.

namespace goldcrest { namespace {
// The weights that a tile prefetches while it reads its own. If two tiles fit the first-level cache, it prefetches the
// next tile, as one stream in the order of the file. Otherwise it prefetches the weights that follow soon in each of
// its own panels.
struct Prefetch {
  size_t at, panel_step, step;  // bytes: from the tile's start; to the next panel's; for each `step_bytes` of a panel
};

template <int kPanels> inline Prefetch make_prefetch(size_t panel_bytes, size_t step_bytes) {
  const size_t tile_bytes = kPanels * panel_bytes;
  if (tile_bytes <= 16384) return {tile_bytes, step_bytes, kPanels * step_bytes};
  return {2048, panel_bytes, step_bytes};
}

// Prefetches kLines cache lines of each panel.
template <int kPanels, int kLines> inline void prefetch_tile(const int8_t* tile, Prefetch soon) {
  unrolled<kPanels>([&](int p) {
    const size_t in_panel = soon.at + static_cast<size_t>(p) * soon.panel_step;
    unrolled<kLines>([&](int line) { prefetch(tile, in_panel + 64 * static_cast<size_t>(line)); });
  });
}

template <int kSplit, int kRows, int kPanels>
inline void add_splits(const Acc (&acc)[kSplit][kRows][kPanels], Acc (&sums)[kRows][kPanels]) {
  unrolled<kRows>([&](int r) {
    unrolled<kPanels>([&](int p) {
      sums[r][p] = acc[0][r][p];
      unrolled<kSplit - 1>([&](int s) { sums[r][p] = add(sums[r][p], acc[s + 1][r][p]); });
    });
  });
}

// Multiplies rows by panels of 16 outputs, with all accumulators in registers. If the rows are too few to hide the
// latency, kSplit accumulators share a sum. kBlockInputs times kSplit or kXBlocks is at most 16.
template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output) {
  constexpr int kBlocks = kSplit > kXBlocks ? kSplit : kXBlocks;  // blocks in a step
  constexpr int kBlockBytes = 16 * kBlockInputs, kStepBytes = kBlockBytes * kBlocks;
  const size_t k = args.k, panel_bytes = 16 * k;
  const int8_t* x = args.x + first_row * k;
  const int8_t* const tile = args.w + first_output * k;
  const int8_t* w = tile;
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, kStepBytes);
  Acc acc[kSplit][kRows][kPanels] = {};
  for (size_t block = 0; block < k; block += kBlockInputs * kBlocks, w += kStepBytes, soon.at += soon.step) {
    X inputs[kRows];
    unrolled<kBlocks>([&](int b) {
      unrolled<kRows>([&](int r) {
        if (b % kXBlocks == 0) inputs[r] = broadcast(x + static_cast<size_t>(r) * k + block + kBlockInputs * b);
        unrolled<kPanels>([&](int p) {
          const int8_t* weights = w + static_cast<size_t>(p) * panel_bytes + kBlockBytes * b;
          Acc& sum = acc[b % kSplit][r][p];
          sum = accumulate<kRows>(sum, inputs[r], b % kXBlocks, weights);
        });
      });
    });
    if constexpr (kPrefetches) prefetch_tile<kPanels, kStepBytes / 64>(tile, soon);
  }
  Acc sums[kRows][kPanels];
  add_splits(acc, sums);
  finish_tile(args, first_row, first_output, sums);
}
}}  // namespace goldcrest
