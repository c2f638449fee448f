// SPDX-License-Identifier: Apache-2.0
// A model opened for XNNPACK, and engines over it, in memory of exactly the planned sizes.
#pragma once

#include <pthreadpool.h>

#include <memory>
#include <span>

#include "goldcrest/xnnpack.h"
#include "support/engine_fixture.h"

namespace goldcrest::test {

class XnnpackModel {
 public:
  // Throws std::runtime_error when goldcrest_xnnpack_open refuses. `model` must outlive it.
  explicit XnnpackModel(std::span<const uint8_t> model);

  std::span<const uint8_t> file() const { return file_; }
  const goldcrest_backend* backend() const { return backend_; }
  goldcrest_xnnpack_memory memory(const goldcrest_limits& limits) const;
  // Nothing was written in front of the weights; behind them lies an unmapped page.
  bool intact() const { return weights_->intact(); }

 private:
  std::span<const uint8_t> file_;
  std::unique_ptr<GuardedBuffer<uint8_t>> weights_;
  const goldcrest_backend* backend_ = nullptr;
};

class XnnpackEngineFixture {
 public:
  // kernels: "xnnpack" or "fastest". The model must outlive it.
  XnnpackEngineFixture(const XnnpackModel& model, EngineSetup setup, const char* kernels);

  TestEngine& engine() { return *engine_; }
  bool intact() const { return objects_->intact() && engine_->memory_intact(); }

 private:
  std::unique_ptr<GuardedBuffer<uint8_t>> objects_;
  std::unique_ptr<TestEngine> engine_;
};

// pthreadpool_t for a scope.
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
