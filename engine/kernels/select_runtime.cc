// SPDX-License-Identifier: Apache-2.0
// The choice of a kernel table on machines with an operating system: the best that the CPU runs, or the one that the
// caller or the environment variable GOLDCREST_KERNELS names. The only engine file that calls the C library.
#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "goldcrest/goldcrest.h"
#include "kernels/cpu_features.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

#if defined(__x86_64__)
extern const Kernels kernels_x86_avx512vnni;
extern const Kernels kernels_x86_avxvnni;
extern const Kernels kernels_x86_avx2;
#elif defined(__aarch64__)
extern const Kernels kernels_arm_i8mm;
extern const Kernels kernels_arm_dotprod;
extern const Kernels kernels_arm_dotprod_a55;
extern const Kernels kernels_arm_neon;
extern const Kernels kernels_arm_neon_a53;
#elif defined(__arm__) && defined(__linux__)
extern const Kernels kernels_arm_neon32;
#endif

namespace {

// Best first; the CPU must have a table's features.
const Kernels* const kTables[] = {
#if defined(__x86_64__)
    &kernels_x86_avx512vnni,
    &kernels_x86_avxvnni,
    &kernels_x86_avx2,
#elif defined(__aarch64__)
    &kernels_arm_i8mm,
    &kernels_arm_dotprod,
    &kernels_arm_dotprod_a55,
    &kernels_arm_neon,
    &kernels_arm_neon_a53,
#elif defined(__arm__) && defined(__linux__)
    &kernels_arm_neon32,
#endif
    &kernels_reference,
};

}  // namespace

uint32_t detect_cpu_features() {
  uint32_t features = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) features |= kCpuAvx2;
  // Leaf 7, subleaf 1: AVX-VNNI is bit 4 of EAX. Older compilers' __builtin_cpu_supports do not know it.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool has_leaf = __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0;
  if ((features & kCpuAvx2) != 0 && has_leaf && (eax & 1u << 4) != 0) features |= kCpuAvxVnni;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) features |= kCpuAvx512;
  if (avx512 && __builtin_cpu_supports("avx512vnni")) features |= kCpuAvx512Vnni;
#elif defined(__aarch64__)
  features |= kCpuNeon;
#if defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_CRC32) != 0) features |= kCpuCrc32;
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) features |= kCpuDotProduct;
  if ((getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) features |= kCpuMatrixInt8;
#endif
#elif defined(__arm__) && defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_NEON) != 0) features |= kCpuNeon;
#endif
  return features;
}

const Kernels* kernels_at(uint32_t index) {
  const uint32_t features = detect_cpu_features();
  for (const Kernels* table : kTables) {
    if ((table->cpu_features & ~features) == 0 && index-- == 0) return table;
  }
  return nullptr;
}

const char* wanted_kernels(const char* name) { return name != nullptr ? name : getenv("GOLDCREST_KERNELS"); }

const Kernels* select_kernels(const char* name) {
  name = wanted_kernels(name);
  if (name == nullptr) return kernels_at(0);
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    if (strcmp(name, table->name) == 0) return table;
  }
  return nullptr;
}

}  // namespace goldcrest

extern "C" const char* goldcrest_kernels_built(uint32_t index) {
  return index < std::size(goldcrest::kTables) ? goldcrest::kTables[index]->name : nullptr;
}
