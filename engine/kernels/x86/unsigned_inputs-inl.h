// SPDX-License-Identifier: Apache-2.0
// Linear layers over VPDPBUSD with inputs + 128 as its unsigned factor. 128 times the file's weight sums is subtracted
// before the first product. In tiles of three rows and more both factors come from memory as they are: 128 is added to
// the inputs once for all outputs, so a tile has no other vector operations than its products. A layer with fine inputs
// multiplies two rows for each row of outputs. Needs the weight sums; vector/shared_attention-inl.h has none.
#include "kernels/x86/unsigned_weights-inl.h"

namespace goldcrest { namespace {
// Inputs + 128 on the stack: of a layer with long rows, and of the others. An output layer's caller has logits there
// too. More rows than fit are computed in groups, which share the weights of kGroupBytes from a cache.
constexpr size_t kLongInputBytes = 65536, kInputBytes = 32768, kGroupBytes = 524288;
constexpr uint32_t kLongRow = kInputBytes / 32 + 1;  // 32 rows do not fit

// Models whose layers have this many inputs and outputs have more weights than a cache holds. Reading ahead for a few
// rows made a base model's beams of 4 and 8 1.11 and 1.22 times as fast; weights in a cache took 1.02 times as long.
constexpr uint32_t kLargeSide = 512;

// A linear layer whose x are inputs + 128. With 2 or 4 turns, as many blocks of rows prefetch a part of the next tile
// each, because memory is slower than one block. A part is one stream: other orders took 1.15 times as long. With
// fine inputs, each row of inputs is followed by its remainders. kOneStream: a tile is one panel, and with 0 turns it
// prefetches nothing.
template <bool kFine, bool kOneStream = false> struct UnsignedArgs : LinearArgs<int8_t> {
  uint32_t turns;
  const int8_t* next;            // what is read after this tile; null: the next tile
  const float* remainder_scale;  // [rows of y], with fine inputs
};

template <bool kOneStream> constexpr int kInputRows<UnsignedArgs<true, kOneStream>> = 2;

template <int kRows, bool kFine> struct Tile<kRows, UnsignedArgs<kFine, true>> {
  static constexpr int kPanels = 1, kSplit = 2;
};

template <bool kOneStream> inline V finish_sums(const UnsignedArgs<false, kOneStream>&, Acc sums, size_t, size_t) {
  return to_floats(sums);
}

// As `linear` with biases of +0 and finish_fine: a bias of -0 becomes +0, so that no sum is -0 where theirs is +0.
template <int kRows, int kPanels, bool kOneStream>
inline V scale_sums(const UnsignedArgs<true, kOneStream>& args, const Panel& panel, size_t row,
    const Acc (&sums)[kRows][kPanels], int r, int p) {
  const V product = to_floats(sums[2 * r][p]) * (set(args.x_scale[row]) * panel.w_scale);
  const V remainder = to_floats(sums[2 * r + 1][p]) * (set(args.remainder_scale[row]) * panel.w_scale);
  return (product + (panel.bias + set(0.0f))) + remainder;
}

// Loads weights once. Without it GCC loads them for each of two or three rows, and Zen 4 loads 64 bytes a cycle.
inline W load_once(const int8_t* w) {
  W weights = load_panel(w);
#ifdef __AVX__  // tests also emulate the intrinsics on machines without such registers
  asm("" : "+v"(weights.v));
#endif
  return weights;
}

template <int kRows, int kPanels, int kSplit, bool, bool kFine, bool kOneStream>
inline void linear_tile(const UnsignedArgs<kFine, kOneStream>& args, uint32_t first_row, uint32_t first_output) {
  constexpr int kBlocks = kOneStream ? 4 : 2;  // blocks in a step
  const size_t k = args.k, panel_bytes = 16 * k;
  // Two pointers, because with one GCC keeps eight offsets and spills some.
  const int8_t *x = args.x + first_row * k, *x_from_4 = x + 4 * k;
  asm("" : "+r"(x_from_4));
  const int8_t* const tile = args.w + first_output * k;
  const int8_t* w = tile;
  Prefetch soon = make_prefetch<kPanels>(panel_bytes, 64 * kBlocks);
  const uint32_t turns = args.turns;
  const int8_t* ahead = tile;
  if (turns > 1) {
    const size_t part_bytes = kPanels * panel_bytes / turns, turn = (first_row + 7) / 8 % turns;
    soon = {turn * part_bytes, 64, kPanels * 64 * kBlocks / turns};
    ahead = args.next != nullptr ? args.next : tile + kPanels * panel_bytes;
  }
  Acc acc[kSplit][kRows][kPanels] = {};
  unrolled<kPanels>([&](int p) {
    const Acc start = minus_128_times(args.weight_sum + first_output + 16 * static_cast<size_t>(p));
    unrolled<kRows>([&](int r) { acc[0][r][p] = start; });
  });
  for (size_t block = 0; block < k;
       block += 4 * kBlocks, x += 4 * kBlocks, x_from_4 += 4 * kBlocks, w += 64 * kBlocks, soon.at += soon.step) {
    unrolled<kBlocks>([&](int b) {
      W weights[kPanels];
      unrolled<kPanels>([&](int p) { weights[p] = load_once(w + static_cast<size_t>(p) * panel_bytes + 64 * b); });
      unrolled<kRows>([&](int r) {
        const X input = broadcast_bytes((r < 4 ? x : x_from_4) + static_cast<size_t>(r % 4) * k + 4 * b);
        unrolled<kPanels>([&](int p) {
          Acc& sum = acc[b % kSplit][r][p];
          sum = accumulate_products(sum, input, weights[p]);
        });
      });
    });
    if (kOneStream && turns == 0) continue;
    if (turns == 4) prefetch(ahead, soon.at);
    else if (turns == 2) prefetch_tile<2, 1>(ahead, soon);
    else if (turns == 1) prefetch_tile<kPanels, kBlocks>(ahead, soon);
  }
  Acc sums[kRows][kPanels];
  add_splits(acc, sums);
  finish_tile(args, first_row, first_output, sums);
}

// Two rows of inputs, which read their weights as one stream, as a single row does. 128 is added on the way, for free.
template <bool kFine, bool kPrefetches>
__attribute__((noinline, flatten)) void linear_two_rows(const LinearArgs<int8_t>& layer) {
  constexpr int kSplit = 4;
  UnsignedArgs<kFine> args;
  static_cast<LinearArgs<int8_t>&>(args) = layer;
  args.remainder_scale = layer.x_scale + 1;
  const size_t k = args.k;
  for (uint32_t output = 0; output < args.n; output += 16) {
    const int8_t *x = args.x, *const panel = args.w + output * k, *w = panel;
    Prefetch soon = make_prefetch<1>(16 * k, 64 * kSplit);
    Acc acc[kSplit][2][1] = {};
    acc[0][0][0] = acc[0][1][0] = minus_128_times(args.weight_sum + output);
    for (size_t block = 0; block < k; block += 4 * kSplit, x += 4 * kSplit, w += 64 * kSplit, soon.at += soon.step) {
      unrolled<kSplit>([&](int s) {
        const W weights = load_once(w + 64 * s);
        unrolled<2>([&](int r) {
          const X input = broadcast(x + static_cast<size_t>(r) * k + 4 * s);
          acc[s][r][0] = accumulate_products(acc[s][r][0], input, weights);
        });
      });
      if constexpr (kPrefetches) prefetch_tile<1, kSplit>(panel, soon);
    }
    Acc sums[2][1];
    add_splits(acc, sums);
    finish_tile(args, 0, output, sums);
  }
}

template <bool kFine> inline size_t input_bytes(const LinearArgs<int8_t>& args) {
  return kInputRows<UnsignedArgs<kFine>> * args.rows * size_t{args.k};
}

// Copies `rows` rows from `first` on, + 128. With fine inputs each is followed by its remainders.
template <bool kFine>
inline void copy_inputs(const LinearArgs<int8_t>& args, uint32_t first, uint32_t rows, int8_t* to) {
  const size_t k = args.k;
  const int8_t* const x = args.x + first * k;
  if (!kFine) return add_128(x, rows * k, to);
  for (uint32_t row = 0; row < rows; ++row, to += 2 * k) {
    add_128(x + row * k, k, to);
    add_128(x + (args.rows + row) * k, k, to + k);
  }
}

// Computes `rows` rows of y from `first` on, of n outputs from `output` on. x: of copy_inputs.
template <bool kFine, bool kOneStream>
inline void linear_part(const LinearArgs<int8_t>& args, const int8_t* x, uint32_t first, uint32_t rows, uint32_t output,
    uint32_t n, uint32_t turns, const int8_t* expanded = nullptr, const int8_t* next = nullptr) {
  UnsignedArgs<kFine, kOneStream> part;
  static_cast<LinearArgs<int8_t>&>(part) = args;
  const size_t at = first * args.y_stride + output;
  part.turns = turns;
  part.next = next;
  part.x = x;
  part.x_scale = args.x_scale + first;
  part.remainder_scale = part.x_scale + args.rows;
  part.w = expanded != nullptr ? expanded : args.w + output * size_t{args.k};
  part.w_scale = args.w_scale + output;
  part.bias = args.bias + output;
  part.weight_sum = args.weight_sum + output;
  if (args.residual != nullptr) part.residual = args.residual + at;
  part.y = args.y + at;
  part.rows = rows * kInputRows<UnsignedArgs<kFine>>;
  part.n = n;
  linear_panels(part);
}

// The same with packed weights, which it expands before a tile's products.
__attribute__((noinline)) void linear_expanded(
    const LinearArgs<int8_t>& args, const int8_t* x, uint32_t first, uint32_t rows, uint32_t output, uint32_t n) {
  alignas(64) int8_t w[kExpandedBytes];
  const uint32_t end = output + n, most = kExpandedBytes / args.k < 32 ? 16 : 32;
  for (uint32_t of_tile; output < end; output += of_tile) {
    of_tile = end - output < most ? end - output : most;
    expand(packed_matrix(args), {output, of_tile}, {0, args.k}, w);
    const int8_t* const next = args.w + nibble_bytes(output + of_tile, args.k);
    linear_part<false, false>(args, x, first, rows, output, of_tile, 4, w, next);
  }
}

// The same, by as many streams of weights as the rows need. kPrefetchesFew: a few rows, which mostly wait for weights,
// prefetch them. Otherwise one stream is read, for which the CPU or short prefetches suffice.
template <bool kFine, bool kPrefetchesFew>
inline void linear_unsigned(
    const LinearArgs<int8_t>& args, const int8_t* x, uint32_t first, uint32_t rows, uint32_t output, uint32_t n) {
  if (!kFine && args.is_packed()) return linear_expanded(args, x, first, rows, output, n);
  const uint32_t input_rows = rows * kInputRows<UnsignedArgs<kFine>>;
  if constexpr (!kPrefetchesFew) {
    constexpr uint32_t kMostOfOneStream = 10;  // more are two blocks of at least five rows, whose tiles have two panels
    const bool is_large = args.n >= kLargeSide && args.k >= kLargeSide;
    if (input_rows <= kMostOfOneStream)
      return linear_part<kFine, true>(args, x, first, rows, output, n, is_large ? 1 : 0);
  }
  const uint32_t turns = input_rows >= 32 ? 4 : input_rows >= 16 || !kPrefetchesFew ? 2 : 1;  // at most the blocks
  linear_part<kFine, false>(args, x, first, rows, output, n, turns);
}

// noinline: the buffer is on the stack only where it is needed.
template <size_t kBytes, bool kFine, bool kPrefetchesFew>
__attribute__((noinline)) void linear_in_groups(const LinearArgs<int8_t>& args) {
  alignas(64) int8_t x[kBytes];
  if (input_bytes<kFine>(args) <= kBytes) {
    copy_inputs<kFine>(args, 0, args.rows, x);
    return linear_unsigned<kFine, kPrefetchesFew>(args, x, 0, args.rows, 0, args.n);
  }
  const uint32_t fit = static_cast<uint32_t>(kBytes / args.k) / 8 * 8 / kInputRows<UnsignedArgs<kFine>>;
  const uint32_t groups = (args.rows + fit - 1) / fit;
  const uint32_t outputs_fit = static_cast<uint32_t>(kGroupBytes / args.k) / 32 * 32;
  const uint32_t step = outputs_fit >= args.n ? args.n : outputs_fit;
  for (uint32_t output = 0; output < args.n; output += step) {
    const uint32_t n = args.n - output < step ? args.n - output : step;
    for (uint32_t group = 0, row = 0; group < groups; ++group) {  // nearly equal sizes: none has a single row of x
      const uint32_t rows = (args.rows - row) / (groups - group);
      copy_inputs<kFine>(args, row, rows, x);
      linear_unsigned<kFine, kPrefetchesFew>(args, x, row, rows, output, n);
      row += rows;
    }
  }
}

// Computes all rows; eight rows of inputs fit into kLongBytes.
template <size_t kLongBytes, bool kFine, bool kPrefetchesFew>
inline void linear_copied(const LinearArgs<int8_t>& args) {
  if (args.shared == nullptr || input_bytes<kFine>(args) > args.shared->n_bytes)
    return args.k < kLongRow ? linear_in_groups<kInputBytes, kFine, kPrefetchesFew>(args)
                             : linear_in_groups<kLongBytes, kFine, kPrefetchesFew>(args);
  int8_t* const x = reinterpret_cast<int8_t*>(args.shared->bytes);
  if (!args.shared->made) copy_inputs<kFine>(args, 0, args.rows, x);
  args.shared->made = true;
  linear_unsigned<kFine, kPrefetchesFew>(args, x, 0, args.rows, 0, args.n);
}

template <size_t kLongBytes, bool kPrefetchesFew> void linear_unsigned_inputs(const LinearArgs<int8_t>& args) {
  constexpr size_t kMostInputs = kLongBytes / 8;  // a tile's row has at most these: eight rows fit
  if (args.layout != Layout::kN16K4) return linear_by_rows(args);
  if (args.rows == 1) return linear_one_row<kPrefetchesFew>(args);
  if (args.rows == 2) return linear_two_rows<false, kPrefetchesFew>(args);
  if (args.k > kMostInputs) return linear_by_rows(args);
  linear_copied<kLongBytes, false, kPrefetchesFew>(args);
}

// More rows than kMostFew share expanded weights: 128 rows of a base model take 0.92 times as long. An output layer,
// whose caller has `shared` on the stack, has no room for another copy of the inputs.
[[maybe_unused]] void linear_packed_or_expanded(const LinearArgs<int8_t>& args) {
  constexpr uint32_t kMostFew = 8;
  const bool has_room = args.shared == nullptr || input_bytes<false>(args) <= args.shared->n_bytes;
  if (args.rows <= kMostFew || args.k > kExpandedBytes / 16 || !has_room) return linear_packed_rows(args);
  linear_copied<kLongInputBytes, false, true>(args);
}

template <bool kPrefetchesFew> void linear_fine(const LinearArgs<int8_t>& args) {
  static_assert(kMostFineInputs <= kLongInputBytes / 8, "eight rows of x fit");
  if (args.rows == 1) return linear_two_rows<true, kPrefetchesFew>(args);
  linear_copied<kLongInputBytes, true, kPrefetchesFew>(args);
}
}}  // namespace goldcrest
