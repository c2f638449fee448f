// SPDX-License-Identifier: Apache-2.0
// Prints the kernel tables that this build has and this CPU runs, best first. Tests of emulated CPUs read it.
#include <cstdio>
#include "goldcrest/goldcrest.h"

int main() {
  for (uint32_t i = 0; const char* name = goldcrest_kernels_at(i); ++i) std::printf("%s\n", name);
  return 0;
}
