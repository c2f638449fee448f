// SPDX-License-Identifier: Apache-2.0
// Linear layers and the output layer over N16K4 panels, on the vectors of vector/kernels-inl.h.

namespace goldcrest { namespace {
enum class CacheLevel { kFirst, kSecond };

// Prefetches the cache line `bytes` after `from`. It may be outside the array, because nothing is read.
inline void prefetch(const void* from, size_t bytes, CacheLevel to = CacheLevel::kFirst) {
  const void* const line = reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(from) + bytes);
  if (to == CacheLevel::kFirst) __builtin_prefetch(line, 0, 3);
  else __builtin_prefetch(line, 0, 1);
}

inline V finish_sums(const LinearArgs<int8_t>& args, Acc sums, size_t, size_t output) {
  return finish(sums, args.weight_sum + output);
}

// Applies scales, bias, activation and residual to a tile's sums, in a loop. Args: LinearArgs, or a table's own
// extension of it.
template <int kRows, int kPanels, typename Args>
inline void finish_by_loop(
    const Args& table_args, uint32_t first_row, uint32_t first_output, const Acc (&sums)[kRows][kPanels]) {
  const LinearArgs<int8_t> args = table_args;  // a copy, which the stores cannot change
  for (int p = 0; p < kPanels; ++p) {
    const uint32_t output = first_output + 16 * static_cast<uint32_t>(p);
    const V w_scale = load(args.w_scale + output), bias = load(args.bias + output);
    for (int r = 0; r < kRows; ++r) {
      const uint32_t row = first_row + static_cast<uint32_t>(r);
      const size_t at = row * args.y_stride + output;
      V y = finish_sums(table_args, sums[r][p], row, output) * (set(args.x_scale[row]) * w_scale) + bias;
      if (args.activation != Activation::kNone) y = activate(args.activation, y);
      if (args.residual != nullptr) y = y + load(args.residual + at);
      store(args.y + at, y);
    }
  }
}

// The rows of inputs that make a row of outputs. A table whose Args has more defines its own scale_sums.
template <typename Args> constexpr int kInputRows = 1;

// 16 outputs: the first, the scales of their weights and their biases.
struct Panel {
  size_t output;
  V w_scale, bias;
};

// Returns y[row], which is row r of a tile, before activation and residual. sums: of panel p of the tile
template <int kRows, int kPanels, typename Args>
inline V scale_sums(const Args& args, const Panel& panel, size_t row, const Acc (&sums)[kRows][kPanels], int r, int p) {
  const V products = finish_sums(args, sums[r][p], row, panel.output);
  return products * (set(args.x_scale[row]) * panel.w_scale) + panel.bias;
}

template <int kNumber> struct Number { static constexpr int kValue = kNumber; };

template <int kCount> __attribute__((noinline, flatten)) void activate_apart(Activation activation, V (&y)[kCount]) {
  activate_vectors(activation, y);
}

// The same. With kFinishesTogether there is no loop, so that the sums stay in their registers and the activations of a
// few rows interleave.
template <int kRows, int kPanels, typename Args>
inline void finish_tile(
    const Args& args, uint32_t first_row, uint32_t first_output, const Acc (&sums)[kRows][kPanels]) {
  if (!kFinishesTogether) return finish_by_loop(args, first_row, first_output, sums);
  constexpr int kOutputRows = kRows / kInputRows<Args>;
  constexpr int kGroups = (kOutputRows + kExpVectors - 1) / kExpVectors;
  constexpr int kTogether = (kOutputRows + kGroups - 1) / kGroups;
  const Activation activation = args.activation;
  const size_t row = first_row / kInputRows<Args>, stride = args.y_stride, at = row * stride + first_output;
  float* const to = args.y + at;
  const float* const residual = args.residual != nullptr ? args.residual + at : nullptr;
  unrolled<kPanels>([&](int p) {
    const size_t output = first_output + 16 * static_cast<size_t>(p);
    const Panel panel = {output, load(args.w_scale + output), load(args.bias + output)};
    const auto finish_rows = [&](auto number, int first) {
      constexpr int kCount = decltype(number)::kValue;
      V y[kCount];
      unrolled<kCount>([&](int i) {
        const int r = first + i;
        y[i] = scale_sums(args, panel, row + static_cast<size_t>(r), sums, r, p);
      });
      if (activation == Activation::kRelu) {
        unrolled<kCount>([&](int i) { y[i] = larger(y[i], set(0.0f)); });
      } else if (activation != Activation::kNone) {
        V in_memory[kCount];
        unrolled<kCount>([&](int i) { in_memory[i] = y[i]; });
        activate_apart(activation, in_memory);
        unrolled<kCount>([&](int i) { y[i] = in_memory[i]; });
      }
      unrolled<kCount>([&](int i) {
        const size_t in_tile = static_cast<size_t>(first + i) * stride + 16 * static_cast<size_t>(p);
        if (residual != nullptr) y[i] = y[i] + load(residual + in_tile);
        store(to + in_tile, y[i]);
      });
    };
    unrolled<kOutputRows / kTogether>([&](int group) { finish_rows(Number<kTogether>(), group * kTogether); });
    if constexpr (kOutputRows % kTogether != 0)
      finish_rows(Number<kOutputRows % kTogether>(), kOutputRows / kTogether * kTogether);
  });
}

// Multiplies rows by panels of 16 outputs. vector/tile-inl.h leaves the order of instructions to the compiler; files
// for cores that need another order define their own. kSplit: the accumulators that share a sum. kPrefetches:
// prefetches weights.
template <int kRows, int kPanels, int kSplit, bool kPrefetches>
inline void linear_tile(const LinearArgs<int8_t>& args, uint32_t first_row, uint32_t first_output);

// The panels and splits of a tile of kRows rows. A table whose Args wants others defines its own.
template <int kRows, typename Args> struct Tile {
  static constexpr int kPanels = kTilePanels[kRows - 1], kSplit = kTileSplits[kRows - 1];
};

// Computes all panels for kRows rows.
template <int kRows, bool kPrefetches, typename Args>
inline void linear_rows(const Args& args, uint32_t first_row, uint32_t first_output, uint32_t end_output) {
  constexpr int kPanels = Tile<kRows, Args>::kPanels, kSplit = Tile<kRows, Args>::kSplit;
  uint32_t output = first_output;
  for (; output + 16 * kPanels <= end_output; output += 16 * kPanels)
    linear_tile<kRows, kPanels, kSplit, kPrefetches>(args, first_row, output);
  for (; output < end_output; output += 16) linear_tile<kRows, 1, kSplit, kPrefetches>(args, first_row, output);
}

// The same for a number of rows that is known only at run time, at most kMaxRows.
template <int kMaxRows, typename Args>
inline void linear_some_rows(
    const Args& args, uint32_t first_row, uint32_t rows, uint32_t first_output, uint32_t end_output) {
  constexpr int kFewer = kMaxRows - kInputRows<Args>;
  if (rows == kMaxRows) return linear_rows<kMaxRows, true>(args, first_row, first_output, end_output);
  if constexpr (kFewer > 0) linear_some_rows<kFewer>(args, first_row, rows, first_output, end_output);
}

// Calls write(i, activation of y_at(i)), 16 outputs, for a row of n. A few vectors take each step together.
template <typename At, typename Write> inline void activate_row(Activation activation, size_t n, At y_at, Write write) {
  constexpr size_t kTogether = 16 * kExpVectors;
  size_t first = 0;
  for (; first + kTogether <= n; first += kTogether) {
    V y[kExpVectors];
    unrolled<kExpVectors>([&](int i) { y[i] = y_at(first + 16 * static_cast<size_t>(i)); });
    activate_vectors(activation, y);
    unrolled<kExpVectors>([&](int i) { write(first + 16 * static_cast<size_t>(i), y[i]); });
  }
  for (; first < n; first += 16) write(first, activate(activation, y_at(first)));
}

// Computes rows by multiply(args), which gets the layer without an activation of many steps. Such an activation runs
// after all tiles, where steps of different vectors overlap.
template <typename Multiply> inline void multiply_then_activate(const LinearArgs<int8_t>& layer, Multiply multiply) {
  LinearArgs<int8_t> args = layer;  // a copy, which the stores cannot change
  const bool has_steps = layer.activation != Activation::kNone && layer.activation != Activation::kRelu;
  if (!has_steps || args.residual != nullptr) return multiply(args);
  args.activation = Activation::kNone;
  multiply(args);
  for (uint32_t row = 0; row < args.rows; ++row) {
    float* const y = args.y + row * args.y_stride;
    activate_row(
        layer.activation, args.n, [&](size_t i) { return load(y + i); },
        [&](size_t i, V of_row) { store(y + i, of_row); });
  }
}

// flatten: with calls, a row of 128 inputs takes 1.05 times as long.
template <bool kPrefetches = true>
__attribute__((noinline, flatten)) void linear_one_row(const LinearArgs<int8_t>& layer) {
  multiply_then_activate(
      layer, [](const LinearArgs<int8_t>& args) { linear_rows<1, kPrefetches>(args, 0, 0, args.n); });
}

// Ends a layer with fine inputs.
__attribute__((flatten)) void finish_fine(const LinearArgs<int8_t>& all, const float* products) {
  const LinearArgs<int8_t> args = all;  // a copy, which the stores cannot change
  const size_t n = args.n, size = args.rows * n;
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* const p = products + row * n;
    const size_t at = row * args.y_stride;
    const auto sum = [&](size_t i) { return (load(p + i) + load(args.bias + i)) + load(p + size + i); };
    const auto write = [&](size_t i, V y) {
      if (args.residual != nullptr) y = y + load(args.residual + at + i);
      store(args.y + at + i, y);
    };
    if (args.activation == Activation::kNone) {
      for (size_t i = 0; i < n; i += 16) write(i, sum(i));
      continue;
    }
    activate_row(args.activation, n, sum, write);
  }
}

template <typename Args> inline void linear_panels(const Args& args) {
  constexpr int kMaxRows = sizeof kTilePanels / sizeof kTilePanels[0];
  if constexpr (kFinishesTogether) {  // else the call would cost more than it saves
    if (args.rows == 1) return linear_one_row(args);
  }
  if (args.rows <= kMaxRows) return linear_some_rows<kMaxRows>(args, 0, args.rows, 0, args.n);
  // Many rows: they pass in blocks of nearly equal size, while a tile's weights stay in the first-level cache.
  constexpr uint32_t kStep = 16 * Tile<kMaxRows, Args>::kPanels, kTogether = kInputRows<Args>;
  const uint32_t blocks = (args.rows + kMaxRows - 1) / kMaxRows;
  for (uint32_t output = 0; output < args.n; output += kStep) {
    const uint32_t end = output + kStep < args.n ? output + kStep : args.n;
    uint32_t row = 0;
    for (uint32_t block = 0; block < blocks; ++block) {
      const uint32_t rows = (args.rows - row) / kTogether / (blocks - block) * kTogether;
      linear_some_rows<kMaxRows>(args, row, rows, output, end);
      row += rows;
    }
  }
}

[[maybe_unused]] void linear(const LinearArgs<int8_t>& args) {
  if (args.layout != Layout::kN16K4) return reference_linear(args);
  linear_panels(args);
}

// Computes the largest logit of each row of a block and the sum of exponentials, from finished logits. It makes two
// passes, because finding a row's largest has a long latency, but rows do not wait for each other. flatten: the
// exponentials stay in their registers.
__attribute__((flatten)) void logit_sums(const LogitSumsArgs& args) {
  const size_t whole = args.count / 16 * 16;
  const uint32_t rest = args.count % 16;
  const Mask counts = first_lanes(rest);
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* logits = args.logits + row * args.logits_stride;
    V largest = set(logits[0]);
    for_vectors(whole, [&](size_t i) { largest = larger(load(logits + i), largest); });
    if (rest != 0) largest = larger(select(counts, load(logits + whole), set(logits[0])), largest);
    args.block_max[row * args.stride] = largest_lane(largest);
  }
  for (uint32_t row = 0; row < args.rows; ++row) {
    const float* logits = args.logits + row * args.logits_stride;
    const V block_max = set(args.block_max[row * args.stride]);
    V sum = set(0.0f);
    for_exponentials(logits, whole, block_max, [&](size_t, V e) { sum = sum + e; });
    if (rest != 0) sum = select(counts, sum + exp_vector(load(logits + whole) - block_max), sum);
    args.block_sum[row * args.stride] = sum_lanes(sum);
  }
}

template <typename Element> inline void output_block_sums(const OutputBlockArgs<Element>& args) {
  if (args.block_max != nullptr) logit_sums(logit_sums_of(args));
}

template <void (*kLinear)(const LinearArgs<int8_t>&)> void output_block_by(const OutputBlockArgs<int8_t>& args) {
  kLinear(args.linear);
  output_block_sums(args);
}

constexpr uint32_t kMostListed = 256;

// Returns the n-th largest lane: the smallest lane with fewer than n larger ones.
inline float nth_largest_lane(V x, uint32_t n) {
  float lanes[16];
  store(lanes, x);
  V larger_lanes[2] = {set(0.0f), set(0.0f)};
  unrolled<16>([&](int i) {
    V& count = larger_lanes[i % 2];
    count = count + select(greater(set(lanes[i]), x), set(1.0f), set(0.0f));
  });
  const V n_larger = larger_lanes[0] + larger_lanes[1];
  const Mask is_among_n = greater(set(static_cast<float>(n)), n_larger);
  return -largest_lane(select(is_among_n, negate(x), set(-__builtin_huge_valf())));
}

// A bit for each number that may enter a list, and in `some` one for each word that is not 0.
struct Candidates {
  uint32_t words[kMostListed / 32], some;

  // Calls f(i), i ascending.
  template <typename Function> void for_each(Function f) const {
    for (uint32_t left = some; left != 0; left &= left - 1) {
      const uint32_t word = static_cast<uint32_t>(__builtin_ctz(left));
      uint32_t lanes = words[word];
      do {
        f(32 * word + static_cast<uint32_t>(__builtin_ctz(lanes)));
        lanes &= lanes - 1;
      } while (lanes != 0);
    }
  }
};

// Finds all numbers that may enter the list, and few others. While a list is not full, its bound lets every number in;
// then the limit is the capacity-th of 16 maxima, the i-th of x[i], x[i + 16] ...
inline void find_candidates(const ListLargestArgs& args, Candidates& found) {
  const float* const x = args.x;
  const size_t whole = args.n / 16 * 16;
  const uint32_t rest = args.n % 16, capacity = args.list.capacity;
  const V none = set(-__builtin_huge_valf());
  const V last = rest == 0 ? none : select(first_lanes(rest), load_first(x + whole, rest), none);
  float limit = args.list.bound();
  if (*args.list.count < capacity && capacity <= 16) {
    V maxima = larger(last, none);
    for_vectors(whole, [&](size_t i) { maxima = larger(load(x + i), maxima); });
    limit = capacity == 1 ? largest_lane(maxima) : nth_largest_lane(maxima, capacity);
  }
  // All comparisons first, 32 in a word. Most words are 0; passing over them without a branch for each is quicker.
  found.some = 0;
  const auto keep_word = [&](size_t i, uint32_t lanes) {
    found.words[i / 32] = lanes;
    found.some |= (lanes != 0 ? 1u : 0u) << i / 32;
  };
  const V limits = set(limit);
  const size_t pairs = whole / 32 * 32;
  for (size_t i = 0; i < pairs; i += 32)
    keep_word(i, true_lanes(not_greater(limits, load(x + i)), not_greater(limits, load(x + i + 16))));
  const uint32_t rest_lanes = rest == 0 ? 0 : true_lanes(not_greater(limits, last)) & ((1u << rest) - 1);
  if (pairs != whole) keep_word(pairs, true_lanes(not_greater(limits, load(x + pairs))) | rest_lanes << 16);
  else if (rest != 0) keep_word(pairs, rest_lanes);
}

// Writes the first n lanes to floats, or their bits to integers.
template <typename Number> inline void store_first(Number* to, V x, uint32_t n) {
  float lanes[16];
  store(lanes, x);
  // memcpy of a constant size is no call.
  if (n < 4) {
    for (uint32_t i = 0; i < n; ++i) memcpy(to + i, lanes + i, sizeof(float));
    return;
  }
  for (uint32_t i = 0; i + 4 <= n; i += 4) memcpy(to + i, lanes + i, 4 * sizeof(float));
  memcpy(to + (n - 4), lanes + (n - 4), 4 * sizeof(float));
}

// The numbers of a list of at most 16 and the bits of their tokens. Lanes after the list are -infinity, or numbers
// that left it.
class ListLanes {
 public:
  explicit ListLanes(const LargestNumbers& list)
      : list_(list),
        values_(select(first_lanes(*list.count), load_first(list.values, *list.count), set(-__builtin_huge_valf()))),
        tokens_(load_first(reinterpret_cast<const float*>(list.tokens), *list.count)) {}

  // Inserts a number after all that are not smaller, without a branch. -infinity changes nothing.
  void insert(float number, int32_t token) {
    float bits;
    memcpy(&bits, &token, sizeof bits);
    const V value = set(number), above = shifted(values_, __builtin_huge_valf());
    const Mask stays = not_less(values_, value), is_behind = not_less(above, value);
    tokens_ = select(stays, tokens_, select(is_behind, set(bits), shifted(tokens_, 0.0f)));
    values_ = select(stays, values_, select(is_behind, value, above));
  }

  void store_list() const {
    const uint32_t n = n_listed();
    store_first(list_.values, values_, n);
    store_first(list_.tokens, tokens_, n);
    *list_.count = n;
  }
 private:
  uint32_t n_listed() const {
    const auto n = static_cast<uint32_t>(__builtin_popcount(true_lanes(greater(values_, set(-__builtin_huge_valf())))));
    return n < list_.capacity ? n : list_.capacity;
  }

  const LargestNumbers& list_;
  V values_, tokens_;
};

void list_largest(const ListLargestArgs& args) {
  Candidates candidates;
  find_candidates(args, candidates);
  if (candidates.some == 0) return;
  if (kListsInVectors && args.list.capacity <= 16) {
    ListLanes lanes(args.list);
    candidates.for_each([&](uint32_t i) { lanes.insert(args.x[i], args.token(i)); });
    lanes.store_list();
  } else {
    candidates.for_each([&](uint32_t i) {
      if (args.x[i] > args.list.bound()) insert_number(args.list, args.x[i], args.token(i));
    });
  }
}
}}  // namespace goldcrest
