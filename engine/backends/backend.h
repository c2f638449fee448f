// SPDX-License-Identifier: Apache-2.0
// The seam between an engine and a backend, a library of compute kernels beside the exact tables: which names ask for
// one, and how it gives an engine its table.
#pragma once

#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"

namespace goldcrest {

// Which layers a backend computes: none, all, or each where it measured faster than the native table.
enum class BackendUse : uint32_t { kNone, kAll, kWhereFaster };

// What goldcrest_config.kernels asks for.
struct KernelChoice {
  const Kernels* native;  // null: no such table for this build and CPU
  BackendUse use;
};

// The choice of `name`, or of the environment for null (wanted_kernels). "xnnpack" wants a backend for all layers and
// "fastest" where it is faster, all else from the best table.
KernelChoice choose_kernels(const char* name);

struct PrepareArgs {
  const void* model;  // checked
  size_t model_bytes;
  const Kernels* native;  // for all that is not a linear layer
  const goldcrest_limits* limits;
  goldcrest_parallel_for parallel_for;
  void* parallel_context;
  void* memory;  // goldcrest_config.backend_memory, in which all that the backend makes lies
  size_t memory_bytes;
  BackendUse use;
};

}  // namespace goldcrest

// The first member of every backend's object; prepare makes the table of one engine and returns a status. See
// goldcrest_config.backend.
struct goldcrest_backend {
  int (*prepare)(const goldcrest_backend& backend, const goldcrest::PrepareArgs& args,
                 const goldcrest::Kernels** kernels, goldcrest_detail* detail);
};
