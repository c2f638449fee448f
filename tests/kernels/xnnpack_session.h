// SPDX-License-Identifier: Apache-2.0
// A model opened for XNNPACK, and engines over it, in memory of exactly the planned sizes.
#pragma once

#include <pthreadpool.h>
#include "goldcrest/xnnpack.h"
#include "support/engine_fixture.h"

namespace goldcrest::test {
class XnnpackModel {
 public:
  // Throws std::runtime_error if goldcrest_xnnpack_open refuses. `model` must outlive this object.
  explicit XnnpackModel(std::span<const uint8_t> model);

  std::span<const uint8_t> file() const { return file_; }
  const goldcrest_backend* backend() const { return backend_; }
  goldcrest_xnnpack_memory memory(const goldcrest_limits& limits) const;
  // Returns whether nothing was written before the weights. An unmapped page follows them.
  bool intact() const { return weights_->intact(); }
 private:
  std::span<const uint8_t> file_;
  std::unique_ptr<GuardedBuffer<uint8_t>> weights_;
  const goldcrest_backend* backend_ = nullptr;
};

class XnnpackEngineFixture {
 public:
  // kernels: "xnnpack" or "fastest". The model must outlive this object.
  XnnpackEngineFixture(const XnnpackModel& model, EngineSetup setup, const char* kernels);

  TestEngine& engine() { return *engine_; }
  bool intact() const { return objects_->intact() && engine_->memory_intact(); }
 private:
  std::unique_ptr<GuardedBuffer<uint8_t>> objects_;
  std::unique_ptr<TestEngine> engine_;
};

// A pthreadpool_t for a scope.
class Pthreadpool {
 public:
  explicit Pthreadpool(size_t n_threads) : pool_(pthreadpool_create(n_threads)) {}
  ~Pthreadpool() { pthreadpool_destroy(pool_); }
  Pthreadpool(const Pthreadpool&) = delete;
  Pthreadpool& operator=(const Pthreadpool&) = delete;
  pthreadpool_t get() const { return pool_; }
 private:
  pthreadpool_t pool_;
};
}  // namespace goldcrest::test
