// SPDX-License-Identifier: Apache-2.0
// Products of a few rows with packed weights. Nibbles are multiplied as they are, a group's sums begin with -8 times
// the sum of its inputs, and they are multiplied by its outputs' multipliers once. The including file defines:
//   PackedSums   the sums of a group for 16 outputs: start_group(GroupStart);
//           add_nibbles(PackedSums, W nibbles, const int8_t* x): 16 outputs x 4 inputs;
//           Acc add_group(Acc, PackedSums, const int8_t* multipliers), of 16 outputs
//   W low_nibbles(W), high_nibbles(W)      of each byte
//   GroupStart group_start(const int8_t* x, uint32_t n)   -8 times the sum of 16 or 32 inputs, in the form of the sums
//   Acc packed_start(const int32_t* weight_sum)           what finish() takes from the sums of 16 outputs; or another
//           type in place of Acc, and Acc packed_end(that type)
//   int kPackedTileRows                    rows of a tile

namespace goldcrest { namespace {
inline Acc packed_end(const Acc& sums) { return sums; }
// starts: [kRows, groups]
template <int kRows>
inline void packed_tile(const LinearArgs<int8_t>& args, const GroupStart* starts, uint32_t first_row, uint32_t output) {
  constexpr uint32_t kAhead = 8192;  // bytes; panels follow each other
  const uint32_t n_groups = packed_groups(args.k);
  const int8_t* w = args.w + nibble_bytes(output, args.k);
  const int8_t* multipliers = args.multipliers + size_t{output} * n_groups;
  const int8_t* x = args.x + size_t{first_row} * args.k;
  decltype(packed_start(nullptr)) sums[kRows];
  unrolled<kRows>([&](int r) { sums[r] = packed_start(args.weight_sum + output); });
  const auto add_groups = [&](uint32_t n, auto blocks) {
    for (uint32_t group = 0; group < n; ++group, multipliers += 16, ++starts) {
      PackedSums of_group[kRows];
      unrolled<kRows>([&](int r) { of_group[r] = start_group(starts[static_cast<size_t>(r) * n_groups]); });
      unrolled<decltype(blocks)::kValue>([&](int) {
        const W nibbles = load_panel(w), of_low = low_nibbles(nibbles), of_high = high_nibbles(nibbles);
        unrolled<kRows>([&](int r) {
          const int8_t* const of_row = x + static_cast<size_t>(r) * args.k;
          of_group[r] = add_nibbles(add_nibbles(of_group[r], of_low, of_row), of_high, of_row + 4);
        });
        prefetch(w, kAhead);
        w += 64;
        x += 8;
      });
      unrolled<kRows>([&](int r) { sums[r] = add_group(sums[r], of_group[r], multipliers); });
    }
  };
  add_groups(args.k / kPackedGroup, Number<4>());
  if (args.k % kPackedGroup != 0) add_groups(1, Number<2>());
  Acc ended[kRows][1];
  unrolled<kRows>([&](int r) { ended[r][0] = packed_end(sums[r]); });
  finish_tile(args, first_row, output, ended);
}

// flatten: sums stay in their registers from the first product to the output.
template <int kRows>
__attribute__((noinline, flatten)) void packed_rows(const LinearArgs<int8_t>& layer, uint32_t first) {
  constexpr int kTile = kRows < kPackedTileRows ? kRows : kPackedTileRows;
  const LinearArgs<int8_t> args = layer;  // a copy, which the stores cannot change
  GroupStart starts[kMostPackedInputs / kPackedGroup * kRows];
  GroupStart* next = starts;
  for (uint32_t r = 0; r < kRows; ++r)
    for (uint32_t i = 0; i < args.k; i += kPackedGroup)
      *next++ = group_start(args.x + (first + r) * size_t{args.k} + i, args.k - i < kPackedGroup ? 16 : kPackedGroup);
  for (uint32_t output = 0; output < args.n; output += 16) {
    packed_tile<kTile>(args, starts, first, output);
    if constexpr (kTile < kRows)
      packed_tile<kRows - kTile>(args, starts + kTile * packed_groups(args.k), first + kTile, output);
  }
}

[[maybe_unused]] void linear_packed_rows(const LinearArgs<int8_t>& args) {
  static_assert(kPackedTileRows >= 2);
  for (uint32_t row = 0, rows; row < args.rows; row += rows) {
    const uint32_t left = args.rows - row;
    rows = left / ((left + 3) / 4);
    if (rows == 1) packed_rows<1>(args, row);
    else if (rows == 2) packed_rows<2>(args, row);
    else if (rows == 3) packed_rows<3>(args, row);
    else packed_rows<4>(args, row);
  }
}

// The same with packed weights, and a checksum by the CPU's instructions.
template <void (*kLinear)(const LinearArgs<int8_t>&), QueryAttention kQueries = query_attention<CacheLevel::kFirst>>
constexpr Kernels make_packed_table(const char* name, uint32_t cpu_features) {
  Kernels table = make_vector_table<kLinear, kQueries>(name, cpu_features);
  table.linear_packed = linear_packed_rows;
  table.crc32c = crc32c_words;
  return table;
}
}}  // namespace goldcrest
