// SPDX-License-Identifier: Apache-2.0
// The distance of the engine's probabilities of the next id from float32's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include "reference/reference.h"
#include "report/engine_session.h"

namespace goldcrest::converter {
// The mean of KL(float32 || engine) over the ids of float32's own results. Ids that a prompt forces do not count.
class Divergence {
 public:
  // The model must outlive it. Throws Error naming `file`.
  Divergence(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file);
  Divergence(const Divergence&) = delete;  // the engine keeps its address
  Divergence& operator=(const Divergence&) = delete;

  EngineSession& session() { return session_; }
  // Adds a source and float32's result with its logits. Throws Error if the engine refuses them, or has no trace hook.
  void add(const OwnedSource& source, std::span<const int32_t> target, const Logits& expected);
  // Returns thousandths of a nat for each id; 0 before the first.
  double mean() const { return n_ids_ == 0 ? 0 : 1000 * sum_ / static_cast<double>(n_ids_); }
 private:
  static void take(
      void* self, const char* name, int32_t block, uint32_t row, const float* values, uint32_t count) noexcept;

  std::vector<std::vector<float>> logits_;  // [target positions][ids], of the engine; empty: not computed
  EngineSession session_;
  double sum_ = 0;
  size_t n_ids_ = 0;
};
}  // namespace goldcrest::converter
