// SPDX-License-Identifier: Apache-2.0
// Linear layers and the output layer over N16K4 panels, on the vectors of vector_kernels-inl.h.

namespace goldcrest {
namespace {

inline void write_outputs(const LinearArgs& args, uint32_t row, uint32_t output, V y) {
  y = activate(args.activation, y);
  const size_t at = row * args.y_stride + output;
  if (args.residual != nullptr) y = y + load(args.residual + at);
  store(args.y + at, y);
}

// Scales, bias, activation and residual for a tile's sums.
template <int kRows, int kPanels>
inline void finish_tile(const LinearArgs& args, uint32_t first_row, uint32_t first_output,
                        const Acc (&acc)[kRows][kPanels]) {
  for (int p = 0; p < kPanels; ++p) {
    const uint32_t output = first_output + 16 * static_cast<uint32_t>(p);
    const V w_scale = load(args.w_scale + output), bias = load(args.bias + output);
    for (int r = 0; r < kRows; ++r) {
      const uint32_t row = first_row + static_cast<uint32_t>(r);
      const V product = finish(acc[r][p], args.weight_sum + output);
      write_outputs(args, row, output, product * (set(args.x_scale[row]) * w_scale) + bias);
    }
  }
}

// Rows x panels of 16 outputs, all accumulators in registers.
template <int kRows, int kPanels>
inline void linear_tile(const LinearArgs& args, uint32_t first_row, uint32_t first_output) {
  const size_t panel_bytes = size_t{16} * args.k;
  const int8_t* x = args.x + size_t{first_row} * args.k;
  const int8_t* w = args.w + size_t{first_output} * args.k;
  Acc acc[kRows][kPanels];
  for (int r = 0; r < kRows; ++r) {
    for (int p = 0; p < kPanels; ++p) acc[r][p] = zero();
  }
  for (uint32_t block = 0; block < args.k; block += 4, w += 64) {
    X inputs[kRows];
    for (int r = 0; r < kRows; ++r) inputs[r] = broadcast(x + static_cast<size_t>(r) * args.k + block);
    for (int p = 0; p < kPanels; ++p) {
      const W weights = load_panel(w + static_cast<size_t>(p) * panel_bytes);
      for (int r = 0; r < kRows; ++r) acc[r][p] = accumulate(acc[r][p], inputs[r], weights);
    }
  }
  finish_tile(args, first_row, first_output, acc);
}

// All panels for kRows rows, kPanels at a time.
template <int kRows, int kPanels>
inline void linear_rows(const LinearArgs& args, uint32_t first_row, uint32_t first_output, uint32_t end_output) {
  uint32_t output = first_output;
  for (; output + 16 * kPanels <= end_output; output += 16 * kPanels)
    linear_tile<kRows, kPanels>(args, first_row, output);
  for (; output < end_output; output += 16) linear_tile<kRows, 1>(args, first_row, output);
}

constexpr uint32_t kMostExactRows = 6;

inline void linear_exact_rows(const LinearArgs& args, uint32_t first_row, uint32_t rows, uint32_t first_output,
                              uint32_t end_output) {
  switch (rows) {
    case 1:
      return linear_rows<1, kPanelsFor1>(args, first_row, first_output, end_output);
    case 2:
      return linear_rows<2, kPanelsFor2>(args, first_row, first_output, end_output);
    case 3:
      return linear_rows<3, kPanelsFor3>(args, first_row, first_output, end_output);
    case 4:
      return linear_rows<4, kPanelsFor4>(args, first_row, first_output, end_output);
    case 5:
      return linear_rows<5, kPanelsFor5>(args, first_row, first_output, end_output);
    case 6:
      return linear_rows<6, kPanelsFor6>(args, first_row, first_output, end_output);
    default:
      break;
  }
}

void linear(const LinearArgs& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  if (args.rows <= kMostExactRows) return linear_exact_rows(args, 0, args.rows, 0, args.n);
  // Many rows: a group of panels stays in the first-level cache while the rows pass by.
  constexpr uint32_t kGroup = 16 * kPanelsForMany;
  for (uint32_t output = 0; output < args.n; output += kGroup) {
    const uint32_t end = output + kGroup < args.n ? output + kGroup : args.n;
    uint32_t row = 0;
    for (; row + kRowsForMany <= args.rows; row += kRowsForMany)
      linear_exact_rows(args, row, kRowsForMany, output, end);
    linear_exact_rows(args, row, args.rows - row, output, end);
  }
}

// The largest logit of a block and the sum of exponentials, once the logits are there.
inline void output_block_sums(const OutputBlockArgs& args) {
  if (args.block_max == nullptr) return;
  const uint32_t whole = args.count / 16 * 16, rest = args.count - whole;
  const Mask counts = first_lanes(rest);
  for (uint32_t row = 0; row < args.linear.rows; ++row) {
    const float* logits = args.linear.y + row * args.linear.y_stride;
    V largest = set(logits[0]);
    for (uint32_t i = 0; i < whole; i += 16)
      largest = select(greater(load(logits + i), largest), load(logits + i), largest);
    if (rest != 0) {
      const V last = select(counts, load(logits + whole), set(logits[0]));
      largest = select(greater(last, largest), last, largest);
    }
    const V block_max = set(largest_lane(largest));
    V sum = set(0.0f);
    for (uint32_t i = 0; i < whole; i += 16) sum = sum + exp_vector(load(logits + i) - block_max);
    if (rest != 0) sum = select(counts, sum + exp_vector(load(logits + whole) - block_max), sum);
    args.block_max[row * args.stride] = largest_lane(largest);
    args.block_sum[row * args.stride] = sum_lanes(sum);
  }
}

inline void output_block(const OutputBlockArgs& args) {
  linear(args.linear);
  output_block_sums(args);
}

uint32_t next_above(const float* x, uint32_t begin, uint32_t end, float threshold) {
  const V limit = set(threshold);
  while (begin + 16 <= end) {
    const uint32_t lane = first_true(greater(load(x + begin), limit));
    if (lane < 16) return begin + lane;
    begin += 16;
  }
  return reference_next_above(x, begin, end, threshold);
}

}  // namespace
}  // namespace goldcrest
