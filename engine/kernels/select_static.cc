// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel table of a machine without an operating system: GOLDCREST_KERNEL_TABLE of the build names it, or
// the compiler's flags decide. A program links only this table; with GOLDCREST_ALL_KERNEL_TABLES, for tests, it links
// all.
#include "base/exact_floats.h"
#include "goldcrest/goldcrest.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
extern const Kernels kernels_wasm_simd128;

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
#define GOLDCREST_HAS_HELIUM
#endif

extern const Kernels kernels_cortexm_dsp;
extern const Kernels kernels_cortexm_helium;
extern const Kernels kernels_riscv_scalar;

namespace {
// The tables, best first.
const Kernels* const kTables[] = {
#if defined(GOLDCREST_KERNEL_TABLE)
    &GOLDCREST_KERNEL_TABLE,
#elif defined(GOLDCREST_ALL_KERNEL_TABLES)
#if defined(__wasm_simd128__)
    &kernels_wasm_simd128,
#endif
#if defined(GOLDCREST_HAS_HELIUM)
    &kernels_cortexm_helium,
#endif
#if defined(__ARM_FEATURE_DSP)
    &kernels_cortexm_dsp,
#endif
#if defined(__riscv)
    &kernels_riscv_scalar,
#endif
    &kernels_reference,
#elif defined(__wasm_simd128__)
    &kernels_wasm_simd128,
#elif defined(GOLDCREST_HAS_HELIUM)
    &kernels_cortexm_helium,
#elif defined(__ARM_FEATURE_DSP)
    &kernels_cortexm_dsp,
#elif defined(__riscv)
    &kernels_riscv_scalar,
#else
    &kernels_reference,
#endif
};

bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
}  // namespace

const Kernels* kernels_at(uint32_t index) {
  return index < sizeof kTables / sizeof kTables[0] ? kTables[index] : nullptr;
}

const char* wanted_kernels(const char* name) { return name; }

const Kernels* select_kernels(const char* name) {
  if (name == nullptr) return kTables[0];
  for (const Kernels* table : kTables)
    if (same_text(name, table->name)) return table;
  return nullptr;
}
}  // namespace goldcrest

extern "C" const char* goldcrest_kernels_built(uint32_t index) { return goldcrest_kernels_at(index); }
