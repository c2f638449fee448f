// SPDX-License-Identifier: Apache-2.0
// The backend that a user asks a program for, --kernels xnnpack or fastest, in memory of exactly the planned sizes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "goldcrest/goldcrest.h"

class Backend {
 public:
  Backend();
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Where config->kernels, or GOLDCREST_KERNELS without it, asks for a backend: opens the model for it and fills in the
  // rest of *config, whose model and limits are there. With more than one thread its pool takes parallel_for's place.
  // Returns an empty string, or why it failed. The engine must not outlive this.
  std::string attach(goldcrest_config* config);

  // "weights 1 bytes, engine 2 bytes" for an attached backend, else empty.
  const std::string& memory() const { return memory_; }

 private:
  struct FreeDeleter {
    void operator()(void* memory) const { std::free(memory); }
  };
  class Pool;

  void* allocate(std::unique_ptr<void, FreeDeleter>* memory, uint64_t bytes);

  std::unique_ptr<void, FreeDeleter> weights_, objects_;
  std::unique_ptr<Pool> pool_;
  std::string memory_;
};
