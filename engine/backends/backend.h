// SPDX-License-Identifier: Apache-2.0
// The seam between an engine and a backend. A backend is a library of compute kernels that are not bit-exact. Names
// ask for a backend, and its `prepare` gives an engine a kernel table.
#pragma once

#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"

namespace goldcrest {
// The layers that a backend computes: none, all, or those that it computes faster than the native table, as measured.
enum class BackendUse : uint32_t { kNone, kAll, kWhereFaster };

// The kernels that goldcrest_config.kernels asks for.
struct KernelChoice {
  const Kernels* native;  // null: no such table for this build and CPU
  BackendUse use;
};

// Returns the choice of `name`; null: the environment's (wanted_kernels). "xnnpack" asks a backend to compute all
// layers, "fastest" those layers that it computes faster. Both take the best table for the rest.
KernelChoice choose_kernels(const char* name);

struct PrepareArgs {
  const void* model;  // checked
  size_t model_bytes;
  const Kernels* native;  // for all that is not a linear layer
  const goldcrest_limits* limits;
  goldcrest_parallel_for parallel_for;
  void* parallel_context;
  void* memory;  // goldcrest_config.backend_memory, which holds all objects of the backend
  size_t memory_bytes;
  BackendUse use;
};
}  // namespace goldcrest

// The first member of every backend's object. prepare makes the kernel table of one engine and returns a status. See
// goldcrest_config.backend.
struct goldcrest_backend {
  int (*prepare)(const goldcrest_backend& backend, const goldcrest::PrepareArgs& args,
      const goldcrest::Kernels** kernels, goldcrest_detail* detail);
};
