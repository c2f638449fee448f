// SPDX-License-Identifier: Apache-2.0
// Stores keys and values of the rows of a pass and computes attention, sentence by sentence. Each row attends only to
// keys of its own sentence.
#pragma once

#include "layers/linear.h"

namespace goldcrest {
// The time for one query value with its key and value, in multiply-accumulates of a linear layer.
constexpr uint64_t kAttentionCost = 8;

// Returns the multiply-accumulates of rows that each attend to this many keys.
inline uint64_t attention_macs(const StackView& stack, uint64_t rows, uint64_t keys) {
  return 2 * rows * keys * stack.attention_width();
}

// Stores one row's keys and values in its row of the cache.
inline void store_key_value(const Pass& pass, const NewKeys& keys, const KvCache& cache) {
  operations(pass.runtime).store(pass.runtime, pass.stack, keys, cache);
}

// Stores keys_values [rows, 2, n_heads * d_head] of all rows of a pass, each in the cache's row of the same number.
// stack: that of the cache.
void store_keys_values(const Pass& pass, const StackView& stack, const float* keys_values, const KvCache& cache);

// The arguments of an attention that are the same for all rows of a pass.
struct AttentionRows {
  const float* query;      // [rows, n_heads * d_head], row stride query_stride
  float* out;              // [rows, n_heads * d_head]
  size_t query_stride;     // elements
  KvCache cache;           // one layer's
  size_t position_stride;  // rows of the cache from one key to the next
  size_t ancestor_stride;  // stride in SentenceKeys.ancestor
  AttentionBiasView bias;
  int32_t bias_step;    // moves the biases from one row to the next
  uint64_t n_products;  // approximate number of pairs of a row and a key
};

// The rows of one sentence in a pass, and the keys that they attend to.
struct SentenceKeys {
  Range rows;        // rows of the pass; count 0: the sentence has none here
  size_t first_key;  // row of the cache that holds key 0 of slot 0
  uint32_t n_keys;
  const uint8_t* ancestor;  // [n_keys, ancestor_stride]: slot of each key for each row; null: slot 0
  uint32_t position = 0;    // the first row's; only for biases
  size_t to_next = 0;       // rows of the cache to key 0 of the next sentence; 0: not known
};

// Computes some heads of one sentence's rows, by one task.
void attend_sentence(
    const Pass& pass, const AttentionRows& rows, const SentenceKeys& sentence, Range heads, uint32_t task);

// rows.out <- attention of all rows. keys_of(i): SentenceKeys of sentence i. Splits the heads over tasks if the work is
// worth more than one task.
template <typename KeysOf>
void attend(const Pass& pass, const AttentionRows& rows, uint32_t n_sentences, const KeysOf& keys_of) {
  const uint64_t macs = rows.n_products * pass.stack.attention_width() * kAttentionCost;
  const Split split = split_work(macs, pass.stack.n_heads, pass.n_tasks);
  const auto attend_heads = [&](uint32_t piece, uint32_t task) __attribute__((noinline)) {
    const Range heads = split.part_of(pass.stack.n_heads, piece);
    for (uint32_t i = 0; i < n_sentences; ++i) {
      SentenceKeys sentence = keys_of(i);
      if (kHasSystem && i + 1 < n_sentences) sentence.to_next = keys_of(i + 1).first_key - sentence.first_key;
      if (sentence.rows.count > 0) attend_sentence(pass, rows, sentence, heads, task);
    }
  };
  run_pieces(pass.runtime, split, attend_heads);
}
}  // namespace goldcrest
