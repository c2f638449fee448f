// SPDX-License-Identifier: Apache-2.0
// The choice of a kernel table on machines with an operating system: the best that the CPU runs, or the one that the
// caller or the environment variable GOLDCREST_KERNELS names. The only engine file that calls the C library.
#include <cstdlib>
#include <cstring>

#include "kernels/reference.h"

namespace goldcrest {

namespace {

// Best first; the CPU must have a table's features.
const Kernels* const kTables[] = {&kernels_reference};

uint32_t detect_cpu_features() { return 0; }

}  // namespace

const Kernels* kernels_at(uint32_t index) {
  const uint32_t features = detect_cpu_features();
  for (const Kernels* table : kTables) {
    if ((table->cpu_features & ~features) == 0 && index-- == 0) return table;
  }
  return nullptr;
}

const Kernels* select_kernels(const char* name) {
  if (name == nullptr) name = getenv("GOLDCREST_KERNELS");
  if (name == nullptr) return kernels_at(0);
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    if (strcmp(name, table->name) == 0) return table;
  }
  return nullptr;
}

}  // namespace goldcrest
