// SPDX-License-Identifier: Apache-2.0
// An engine over a mapped model. Its sources are random ids, or noise if the model takes samples. Its translations have
// a forced length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "host/model_memory.h"
#include "host/open_backend.h"
#include "host/thread_pool.h"

namespace bench {
// One case of work. Every search computes exactly target_tokens positions with all of its beams. The end token is
// forced as a further id, which the engine writes without computing anything.
struct Workload {
  uint32_t source_tokens = 32, target_tokens = 64;
  uint32_t beam_size = 1, batch = 1;
  uint64_t seed = 1;
};

// Functions throw std::runtime_error with the file, the status and its detail.
class ModelRunner {
 public:
  struct Options {
    std::string model, kernels;  // kernels: empty for the best
    uint32_t verify = GOLDCREST_VERIFY_FULL;
    uint32_t step_size = GOLDCREST_STEP_POSITION;
    const ThreadPool* pool = nullptr;  // null: one thread
    bool low_memory = false;           // release weights from memory while they are not used
  };

  // Maps and checks the file, plans the memory for `workload`, starts the engine.
  ModelRunner(const Options& options, const Workload& workload);

  void run();            // encoding and all target positions
  void run_encoder();    // only encoding: the end token is forced as the first id
  void run_one_token();  // encoding and one target position

  // Takes the file's pages out of the process's memory until they are read again.
  void release_file() const { MappedFile::release(nullptr, file_.bytes(), file_.size()); }

  // Stores the sources; each run starts with it.
  void begin(uint32_t computed_positions);
  // Runs one goldcrest_step.
  int step();

  const goldcrest_info& model() const { return model_; }
  uint64_t arena_bytes() const { return memory_.arena_bytes; }
  uint32_t encoder_rows() const { return memory_.limits.encoder_rows; }
  goldcrest_engine* engine() { return engine_; }
  std::string kernels() const { return goldcrest_kernels_name(engine_); }
 private:
  void run_to_end(uint32_t computed_positions);
  int check(int status) const;
  int store(uint32_t sentence);

  std::string path_;
  MappedFile file_;
  Backend backend_;
  Workload workload_;
  goldcrest_info model_ = {};
  goldcrest_memory memory_ = {};
  goldcrest_detail detail_ = {"", -1};
  ArenaMemory arena_;
  goldcrest_engine* engine_ = nullptr;
  std::vector<std::vector<int32_t>> sources_;  // [batch][source_tokens]
  std::vector<std::vector<int16_t>> clips_;    // [batch] of samples that give source_tokens encoder rows
};
}  // namespace bench
