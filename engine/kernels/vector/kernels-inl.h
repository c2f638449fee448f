// SPDX-License-Identifier: Apache-2.0
// The kernels are written once, over vectors of 16 lanes that the including file defines. The translation unit of each
// ISA gets its own copy.
//
// Rows are padded to multiples of 16, so there are no tails. The including file defines before this one, in goldcrest's
// unnamed namespace:
//   V       16 floats: load, store, set, operators + - * /, negate (the sign bit), negative (the sign bit set),
//           select(Mask, yes, no), keep(Mask, x): x, 0 in the other lanes
//   Mask    of 16 lanes: greater(a, b), not_less(a, b), not_greater(a, b): all false for NaN; first_lanes(n);
//           true_lanes(mask), true_lanes(mask, mask): a bit each, the first mask's low
//   V load_first(const float*, n)       the first n floats, then zeros; n <= 16
//   Power   the whole numbers nearest to 16 floats (halves to even), as V .value and in another form: nearest_power(V)
//   V scale_by_power_of_two(V p, Power n)   p * 2^n, where both are normal
//   V subtract_exact(V x, V n, V c)     x - n * c, where n * c has no more bits than a float
//   V larger(V x, V y)                  x if it is larger than y, else y
//   V shifted(V x, float first)         first, then the lanes of x but the last
//   bool kListsInVectors                lists of the largest numbers are kept in a V; needs exact comparisons
//   V max_magnitude(V a, V x)           the larger of a and the sign-cleared bits of x, as integers
//   uint32_t largest_bits(V)            the largest lane, as an integer
//   V load_int8(const int8_t*)          16 int8
//   V load_int8_words(const int8_t*)    16 int8 in four words that are 64 bytes apart
//   void store_int8(int8_t*, V), void store_int8(int8_t*, const V (&)[4])   16 or 64 int8, halves rounded to even
//   void store_int16(int16_t*, V)       16 floats from 0 to 16383, halves rounded to even
//   Pairs load_pairs(const int8_t* a, const int8_t* b)   16 values of each of two keys
//   Sums    16 int32: load_sums(const float*), store_sums(float*, Sums), which keep the bits; V to_floats(Sums);
//           add_pairs(Sums, Pairs, int32_t weights): products with two int16, the first key's low
//   float sum_lanes(V)                  8 + 8, 4 + 4, 2 + 2, 1 + 1
//   float largest_lane(V)
//   Acc     16 int32: add, finish(Acc, weight_sum) -> V,
//           accumulate<rows>(Acc, X, int block, const int8_t* w): 16 outputs x kBlockInputs weights, which this many
//           rows share, times the activations of that block of X
//   X       kBlockInputs (4 or 8) activations for all lanes, of kXBlocks blocks: broadcast(const int8_t*)
//   void transpose_words(const int8_t* from, size_t stride, int8_t* to)   [16, 4] words -> [4, 16]; 16 bytes a row
//   W       64 bytes of a panel: load_panel(const int8_t*), smaller_int8(W, W) byte by byte,
//           add_fours(W sums, W w): 16 int32 plus the sums of each four int8
//   int kTilePanels[], kTileSplits[]    linear_tile's kPanels and kSplit for 1, 2, ... rows
//   bool kFinishesTogether              a tile's sums become outputs without a loop; true if this spills no registers
//   int kExpVectors                     exponentials whose steps are interleaved to hide their latency
//   FourDots dot_four(const int8_t* q, const int8_t* const (&keys)[4], n)   n % 16 == 0
//   V join(const FourDots (&)[4])       16 such products as floats
// After this file it includes vector/tile-inl.h or defines its own linear_tile (vector/linear-inl.h), and
// vector/shared_pairs-inl.h or vector/shared_layer-inl.h. It makes its table from make_vector_table.
#include "kernels/kernels.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
// The order matters: each part uses the parts before it.
// clang-format off
#include "kernels/vector/math-inl.h"
#include "kernels/vector/rows-inl.h"
#include "kernels/vector/linear-inl.h"
#include "kernels/vector/integers-inl.h"
#include "kernels/vector/shared_attention-inl.h"
#include "kernels/vector/query_group-inl.h"
#include "kernels/vector/attention-inl.h"
#include "kernels/vector/weights-inl.h"
#include "kernels/vector/float-inl.h"
// clang-format on

namespace goldcrest { namespace {
// Makes the reference's table with every slot that this folder writes over vectors. An ISA's file then sets the slots
// of its own.
template <void (*kLinear)(const LinearArgs<int8_t>&), QueryAttention kQueries = query_attention<CacheLevel::kFirst>>
constexpr Kernels make_vector_table(const char* name, uint32_t cpu_features) {
  Kernels table = kReferenceTable;
  table.name = name;
  table.cpu_features = cpu_features;
  table.int8 = {quantize_rows, kLinear, embed, attention<kLinear, kQueries>, output_block_by<kLinear>};
  table.float32 = &kFloatKernels;
  table.layer_norm = layer_norm;
  table.logit_sums = logit_sums;
  table.finish_fine = finish_fine;
  if (kHasOnePass) table.quantize_fine_inputs = quantize_fine_inputs;
  table.quantize_fine = quantize_fine;
  table.fine_attention = fine_attention<kQueries>;
  table.recurrence = recurrence<16>;
  table.list_largest = list_largest;
  table.weights_valid = weights_valid;
  return table;
}
}}  // namespace goldcrest
