// SPDX-License-Identifier: Apache-2.0
// Opens the backend that a user asks for with --kernels xnnpack or fastest, in memory of exactly the planned sizes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include "goldcrest/goldcrest.h"
#include "host/model_memory.h"

class Backend {
 public:
  Backend();
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // If config->kernels (null: GOLDCREST_KERNELS) asks for a backend, opens the model for it and fills in the rest of
  // *config, whose model and limits must be set. With more than one thread its pool replaces parallel_for. Returns an
  // empty string, or the reason of the failure. The engine must not outlive this object.
  std::string attach(goldcrest_config* config);

  // Returns a text such as "weights 1 bytes, engine 2 bytes" for an attached backend, else an empty one.
  const std::string& memory() const { return memory_; }
 private:
  class Pool;

  void* allocate(ArenaMemory* memory, uint64_t bytes);

  ArenaMemory weights_, objects_;
  std::unique_ptr<Pool> pool_;
  std::string memory_;
};
