// SPDX-License-Identifier: Apache-2.0
// An engine in memory of exactly the planned size, and the results of a search.
#pragma once

#include <ostream>
#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "support/guarded_buffer.h"
#include "support/standard.h"

namespace goldcrest::test {
struct EngineSetup {
  goldcrest_limits limits = {};
  goldcrest_step_size step_size = GOLDCREST_STEP_POSITION;
  goldcrest_verify verify = GOLDCREST_VERIFY_FULL;
  bool two_regions = false;
  uint8_t fill = 0xAA;  // value of every byte of the memory before init
  goldcrest_trace_function trace = nullptr;
  void* trace_context = nullptr;
  goldcrest_parallel_for parallel_for = nullptr;
  void* parallel_context = nullptr;
  goldcrest_idle_weights idle_weights = nullptr;
  void* idle_context = nullptr;
  const char* kernels = nullptr;
  const goldcrest_backend* backend = nullptr;
  std::span<uint8_t> backend_memory;
};

// One hypothesis. Equal means equal bits.
struct Translation {
  std::vector<int32_t> tokens;
  float log_prob = 0, score = 0;
  uint64_t logits_hash = 0;
  std::vector<float> token_log_probs;  // [tokens]; empty if the limits do not ask for them
  std::vector<float>
      alignments;  // [tokens, source ids], the mean of all heads of limits.alignment_layers; may be empty
  uint32_t was_cut = 0;
  bool operator==(const Translation&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Translation& translation);

class TestEngine {
 public:
  // Throws std::runtime_error if the engine refuses. The model must outlive this object.
  TestEngine(std::span<const uint8_t> model, const EngineSetup& setup);

  goldcrest_engine* get() const { return engine_; }
  const goldcrest_memory& memory() const { return memory_; }
  const goldcrest_info& info() const { return info_; }
  const goldcrest_detail& detail() const { return detail_; }

  // Returns the file's search for these limits, which a test can change and set.
  goldcrest_search search() const;
  void set_search(const goldcrest_search& search);
  void change_search(const std::function<void(goldcrest_search&)>& change);

  // Stores the sources. Throws std::runtime_error on any error, as finish, run and score do.
  void begin(std::span<const std::vector<int32_t>> sources);
  // Runs the `n` sources that are stored. Returns [sentence][rank].
  std::vector<std::vector<Translation>> finish(size_t n);
  // Stores the sources and runs. Returns [sentence][rank].
  std::vector<std::vector<Translation>> run(std::span<const std::vector<int32_t>> sources);
  // Returns the best hypothesis of one source.
  Translation run(const std::vector<int32_t>& source);
  // The same along given targets; each sentence has a single result.
  std::vector<Translation> score(
      std::span<const std::vector<int32_t>> sources, std::span<const std::vector<int32_t>> targets);
  // Returns the alignment of one token of a result. Throws std::runtime_error.
  std::vector<float> alignment(const goldcrest_alignment& wanted) const;
  // Returns the hypotheses of one sentence after DONE.
  std::vector<Translation> results(uint32_t sentence) const;

  // Returns whether nothing was written before the memory. An unmapped page follows it.
  bool memory_intact() const { return arena_->intact() && (scratch_ == nullptr || scratch_->intact()); }
 private:
  goldcrest_info info_ = {};
  goldcrest_memory memory_ = {};
  goldcrest_detail detail_ = {};
  std::unique_ptr<GuardedBuffer<uint8_t>> arena_, scratch_;
  goldcrest_engine* engine_ = nullptr;
};
}  // namespace goldcrest::test
