// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "backends/backend.h"
#include "base/build_options.h"

namespace goldcrest {
namespace {
bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

BackendUse backend_use(const char* name) {
  if (!kHasSystem || name == nullptr) return BackendUse::kNone;
  if (same_text(name, "xnnpack")) return BackendUse::kAll;
  return same_text(name, "fastest") ? BackendUse::kWhereFaster : BackendUse::kNone;
}
}  // namespace

KernelChoice choose_kernels(const char* name) {
  const BackendUse use = backend_use(wanted_kernels(name));
  return {use == BackendUse::kNone ? select_kernels(name) : kernels_at(0), use};
}
}  // namespace goldcrest
