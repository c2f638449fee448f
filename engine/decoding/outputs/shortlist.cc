// SPDX-License-Identifier: Apache-2.0
// A set of bits merges the lists of a sentence's ids and n-grams into ascending order, each candidate once. Then rows
// of the projection are copied into panels of the same layout, so that kernels need no code of their own for them.
#include "base/exact_floats.h"
#include "decoding/outputs/shortlist.h"
#include <string.h>
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "decoding/search/place.h"
#include "model/packed.h"

namespace goldcrest {
namespace {
constexpr uint32_t kWordBits = 32;

uint32_t count_words(uint32_t vocab_size) { return (vocab_size + kWordBits - 1) / kWordBits; }

// The set of outputs that a shortlist chooses for a sentence: one bit each.
class CandidateSet {
 public:
  CandidateSet(const ShortlistView& shortlist, uint32_t* bits) : shortlist_(shortlist), bits_(bits) {}

  void add(uint32_t id) { choose_candidate(bits_, id); }

  // Adds target ids [first, first + n) of a list in the file.
  void add_all(const void* ids, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n; ++i)
      add(shortlist_.wide_ids ? static_cast<const uint32_t*>(ids)[i] : static_cast<const uint16_t*>(ids)[i]);
  }

  void add_list(uint32_t list) {
    const uint32_t* offset = shortlist_.offset + list;
    add_all(shortlist_.ids, offset[0], offset[1] - offset[0]);
  }

  // Adds the lists of all n-grams that the source ids [n] begin with. Keys with the same first ids stand together, and
  // the key that consists of only these ids is the last of them.
  void add_ngrams(const int32_t* ids, uint32_t n) {
    const uint32_t width = shortlist_.max_ngram;
    const uint32_t* const keys = shortlist_.ngram_keys;
    uint32_t low = 0, high = shortlist_.n_ngrams;
    for (uint32_t i = 0; i < width && i < n; ++i) {
      const uint32_t id = static_cast<uint32_t>(ids[i]);
      high = first_not_below(i, id + 1, {low, high - low});
      low = first_not_below(i, id, {low, high - low});
      if (low == high) return;
      const uint32_t last = high - 1;
      const bool ends_here = i + 1 == width || keys[size_t{last} * width + i + 1] == kNoId;
      if (i > 0 && ends_here) add_list(shortlist_.n_source_ids + last);
    }
  }
 private:
  // Returns the first of `keys` whose id at `column` is not below `id`, or the end of `keys`.
  uint32_t first_not_below(uint32_t column, uint32_t id, Range keys) const {
    uint32_t low = keys.first, high = keys.first + keys.count;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (shortlist_.ngram_keys[size_t{middle} * shortlist_.max_ngram + column] < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const ShortlistView& shortlist_;
  uint32_t* bits_;
};

// Writes the ids whose bits are set to ids [capacity] and returns their number; 0 if there are more than `capacity`.
uint32_t list_chosen(const uint32_t* chosen, uint32_t n_words, uint32_t* ids, uint32_t capacity) {
  uint32_t n = 0;
  for (uint32_t word = 0; word < n_words; ++word) {
    for (uint32_t bits = chosen[word]; bits != 0; bits &= bits - 1) {
      if (n == capacity) return 0;
      ids[n++] = word * kWordBits + static_cast<uint32_t>(__builtin_ctz(bits));
    }
  }
  return n;
}

// Returns the bytes of a row of int8 weights: of packed ones only the nibbles.
size_t row_bytes(const LinearTensors& of) { return of.is_packed() ? nibble_bytes(1, of.k) : of.k; }

// Copies the rows `ids` of a projection [n, k] into panels [n padded, k] of the same layout, with zeros as padding.
// kRows: rows of a panel, which consists of blocks of 64 bytes.
template <uint32_t kRows> void copy_panels(const LinearTensors& from, const uint32_t* ids, uint32_t n, uint8_t* to) {
  const size_t k = row_bytes(from);
  constexpr size_t kPiece = kAlignment / kRows;  // bytes of a row in a block
  const uint8_t* const weights = static_cast<const uint8_t*>(from.weights);
  const size_t n_blocks = k / kPiece;
  const auto place = [&](size_t row) { return row / kRows * kRows * k + row % kRows * kPiece; };
  if (n % 16 != 0) memset(to + size_t{n} / 16 * 16 * k, 0, size_t{16} * k);
  for (uint32_t i = 0; i < n; ++i) {
    const uint8_t* source = weights + place(ids[i]);
    uint8_t* target = to + place(i);
    for (size_t block = 0; block < n_blocks; ++block)
      memcpy(target + block * kAlignment, source + block * kAlignment, kPiece);
  }
}

// Copies the rows of a float32 projection, which are stored one after another.
void copy_rows(const LinearTensors& from, const uint32_t* ids, uint32_t n, float* to) {
  const float* const weights = static_cast<const float*>(from.weights);
  for (uint32_t i = 0; i < n; ++i)
    memcpy(to + size_t{i} * from.k, weights + size_t{ids[i]} * from.k, size_t{4} * from.k);
  memset(to + size_t{n} * from.k, 0, size_t{pad16(n) - n} * 4 * from.k);
}

template <typename T> void copy_values(const T* from, const uint32_t* ids, uint32_t n, T padding, T* to) {
  for (uint32_t i = 0; i < n; ++i) to[i] = from[ids[i]];
  for (uint32_t i = n; i < pad16(n); ++i) to[i] = padding;
}

// Copies the multipliers of the rows `ids`, with zeros as padding.
void copy_multipliers(const LinearTensors& from, const uint32_t* ids, uint32_t n, int8_t* to) {
  const size_t groups = packed_groups(from.k);
  const auto place = [&](size_t row) { return row / 16 * groups * 16 + row % 16; };
  if (n % 16 != 0) memset(to + n / 16 * groups * 16, 0, groups * 16);
  for (uint32_t i = 0; i < n; ++i)
    for (size_t group = 0; group < groups; ++group)
      to[place(i) + group * 16] = from.multipliers[place(ids[i]) + group * 16];
}

[[gnu::noinline]] void copy_matrix(const LinearTensors& from, uint32_t n, const SentencePanels& to) {
  copy_values(from.scale, to.ids, n, 1.0f, to.scale);
  copy_values(from.weight_sum, to.ids, n, int32_t{0}, to.weight_sum);
  from.layout == Layout::kN16K4 ? copy_panels<16>(from, to.ids, n, to.weights)
                                : copy_panels<4>(from, to.ids, n, to.weights);
  if (from.is_packed())
    copy_multipliers(from, to.ids, n, reinterpret_cast<int8_t*>(to.weights + pad16(n) * row_bytes(from)));
}

// Returns the bytes for one candidate's weights.
size_t candidate_bytes(const LinearView& of) {
  return of.is_packed() ? static_cast<size_t>(packed_bytes(1, of.k)) : size_t{of.k} * bytes_of(of.weight_type);
}

// Returns the number of int8 matrices of a projection.
uint32_t count_matrices(const LinearView& projection) { return projection.rows_to_second() != 0 ? 2 : 1; }

void copy_outputs(LinearTensors from, uint32_t n, SentencePanels to, size_t capacity) {
  copy_values(from.bias, to.ids, n, 0.0f, to.bias);
  if (kHasFloat32 && from.weight_type == WeightType::kFloat32)
    return copy_rows(from, to.ids, n, reinterpret_cast<float*>(to.weights));
  copy_matrix(from, n, to);
  const uint32_t rows = from.rows_to_second();
  if (rows == 0) return;
  from.weights = static_cast<const uint8_t*>(from.weights) + size_t{rows} * from.k;
  from.scale += rows;
  from.weight_sum += rows;
  to.weights += capacity * from.k;
  to.scale += capacity;
  to.weight_sum += capacity;
  copy_matrix(from, n, to);
}
}  // namespace

ShortlistRefs plan_shortlist(Plan& plan, const ModelView& model) {
  ShortlistRefs refs = {};
  if (!plans_shortlist(plan.limits())) return refs;
  const LinearView& projection = model.projection;
  const uint64_t matrices = count_matrices(projection);
  const auto add = [&](const char* name, uint64_t bytes) {
    return plan.add(
        name, Phase::kDecode, Region::kMain, {0, bytes, {GOLDCREST_FACTOR_CANDIDATES, GOLDCREST_FACTOR_BATCH, 0, 0}});
  };
  refs.ids = add("shortlist.ids", sizeof(uint32_t));
  refs.weights = add("shortlist.weights", matrices * candidate_bytes(projection));
  refs.bias = add("shortlist.bias", sizeof(float));
  if (projection.weight_type == WeightType::kInt8) {
    refs.scale = add("shortlist.scale", matrices * sizeof(float));
    refs.weight_sum = add("shortlist.weight_sum", matrices * sizeof(int32_t));
  }
  refs.chosen = plan.add("shortlist.chosen", Phase::kDecode, Region::kScratch,
      {sizeof(uint32_t) * uint64_t{count_words(model.vocab_size)}, 0, {}});
  return refs;
}

void place_shortlist(const Runtime& runtime, const ShortlistRefs& refs, ShortlistBuffers* placed) {
  if (!plans_shortlist(runtime.limits)) return;
  const LinearView& projection = runtime.model.projection;
  SentencePanels& panels = placed->panels;
  place(runtime, refs.ids, &panels.ids);
  place(runtime, refs.weights, &panels.weights);
  place(runtime, refs.bias, &panels.bias);
  if (projection.weight_type == WeightType::kInt8) {
    place(runtime, refs.scale, &panels.scale);
    place(runtime, refs.weight_sum, &panels.weight_sum);
  }
  place(runtime, refs.chosen, &placed->chosen);
  placed->capacity = pad16(runtime.limits.max_candidates);
  placed->panel_bytes = candidate_bytes(projection);
}

SentencePanels ShortlistBuffers::of(uint32_t sentence, uint32_t n_matrices) const {
  const size_t first = sentence * capacity, first_row = first * n_matrices;
  return {panels.ids + first, panels.weights + first_row * panel_bytes,
      panels.scale != nullptr ? panels.scale + first_row : nullptr, panels.bias + first,
      panels.weight_sum != nullptr ? panels.weight_sum + first_row : nullptr};
}

void clear_candidates(const Runtime& runtime, const ShortlistBuffers& buffers) {
  memset(buffers.chosen, 0, count_words(runtime.model.vocab_size) * sizeof *buffers.chosen);
}

uint32_t gather_chosen(const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence) {
  const SentencePanels panels = buffers.of(sentence, count_matrices(runtime.model.projection));
  const uint32_t n =
      list_chosen(buffers.chosen, count_words(runtime.model.vocab_size), panels.ids, runtime.limits.max_candidates);
  if (n > 0) copy_outputs(tensors_of(runtime, runtime.model.projection), n, panels, buffers.capacity);
  return n;
}

OutputSet choose_candidates(
    const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence, const ShortlistIds& ids) {
  ShortlistView shortlist;
  const bool has_shortlist = view_shortlist(runtime.model.file, &shortlist);
  if (!has_shortlist) return candidate_outputs(runtime, buffers, sentence, 0);  // the limits' are a lexicon's
  clear_candidates(runtime, buffers);
  CandidateSet chosen(shortlist, buffers.chosen);
  chosen.add_all(shortlist.always, 0, shortlist.n_always);
  chosen.add(ids.generation.end_id);
  for (uint32_t i = 0; i < ids.generation.n_more_ends; ++i) chosen.add(ids.generation.more_end_ids[i]);
  for (uint32_t i = 0; i < ids.n; ++i) {
    chosen.add_list(static_cast<uint32_t>(ids.source[i]));
    chosen.add_ngrams(ids.source + i, ids.n - i);
  }
  return candidate_outputs(runtime, buffers, sentence, gather_chosen(runtime, buffers, sentence));
}

OutputSet candidate_outputs(const Runtime& runtime, const ShortlistBuffers& buffers, uint32_t sentence, uint32_t n) {
  const SentencePanels panels = buffers.of(sentence, count_matrices(runtime.model.projection));
  LinearTensors tensors = tensors_of(runtime, runtime.model.projection);
  tensors.weights = panels.weights;
  tensors.scale = panels.scale;
  tensors.bias = panels.bias;
  tensors.weight_sum = panels.weight_sum;
  tensors.n = pad16(n);
  if (tensors.is_packed())
    tensors.multipliers = reinterpret_cast<const int8_t*>(panels.weights + tensors.n * row_bytes(tensors));
  if (tensors.panels_to_second != 0) tensors.panels_to_second = static_cast<uint16_t>(buffers.capacity / 16);
  return {tensors, panels.ids, n};
}
}  // namespace goldcrest
