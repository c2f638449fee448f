// SPDX-License-Identifier: Apache-2.0
// Chooses a kernel table on machines with an operating system. It is the best that the CPU runs, unless the caller or
// the environment variable GOLDCREST_KERNELS names one. Only this file of the engine calls the C library.
//
// The instruction set does not tell whether a 64-bit Arm core issues in order, but Linux shows the identification
// register of each core. If all CPUs on which the process may run are Cortex-A53 or A55, the tables for these come
// first. Otherwise the tables for out-of-order cores come first. This includes big cores among them, other kinds of
// core (Cortex-A510, which we have not measured), and systems without these files.
//
// There are two tables for AVX-512 VNNI, one of them for CPUs of AMD.
#include "base/exact_floats.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <asm/hwcap.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>
#elif defined(__riscv) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__aarch64__) && defined(_WIN32)
#include <windows.h>
#endif

#include <stdlib.h>
#include <string.h>
#include "base/build_options.h"
#include "base/types.h"
#include "goldcrest/goldcrest.h"
#include "kernels/cpu_features.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
static_assert(kHasSystem, "GOLDCREST_BACKENDS must be defined: most of these tables need it for packed weights");

#if defined(__x86_64__)
extern const Kernels kernels_x86_avx512vnni;
extern const Kernels kernels_x86_avx512vnni_amd;
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
#elif defined(__riscv)
#if defined(__linux__) && __riscv_xlen == 64
extern const Kernels kernels_riscv_rvv;
#endif
extern const Kernels kernels_riscv_scalar;
#endif

namespace {
// The tables, best first. The CPU must have a table's features.
const Kernels* const kTables[] = {
#if defined(__x86_64__)
    &kernels_x86_avx512vnni,
    &kernels_x86_avx512vnni_amd,
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
#elif defined(__riscv)
#if defined(__linux__) && __riscv_xlen == 64
    &kernels_riscv_rvv,
#endif
    &kernels_riscv_scalar,
#endif
    &kernels_reference,
};

#if defined(__aarch64__) && defined(__linux__)
// The same for machines whose cores are all Cortex-A53 or A55.
const Kernels* const kInOrderTables[] = {
    &kernels_arm_i8mm,
    &kernels_arm_dotprod_a55,
    &kernels_arm_dotprod,
    &kernels_arm_neon_a53,
    &kernels_arm_neon,
    &kernels_reference,
};
static_assert(count_of(kInOrderTables) == count_of(kTables), "the same tables");

// Returns the low half of a core's MIDR_EL1, or 0.
uint32_t identification_of(uint32_t cpu) {
  char path[] = "/sys/devices/system/cpu/cpu0000/regs/identification/midr_el1";
  char* end = strchr(path, '0');
  for (uint32_t unit = cpu >= 1000 ? 1000 : cpu >= 100 ? 100 : cpu >= 10 ? 10 : 1; unit > 0; unit /= 10)
    *end++ = static_cast<char>('0' + cpu / unit % 10);
  memmove(end, strchr(end, '/'), sizeof "/regs/identification/midr_el1");
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};  // 0x00000000410fd034
  const bool has_text = read(file, text, sizeof text - 1) > 0;
  close(file);
  uint32_t value = 0;
  for (const char* digit = text + 2; has_text && *digit > ' '; ++digit)
    value = value << 4 | static_cast<uint32_t>(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
  return value;
}

bool all_cores_issue_in_order() {
  constexpr uint32_t kArm = 0x41, kCortexA53 = 0xd03, kCortexA55 = 0xd05;
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return false;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    const uint32_t identification = identification_of(cpu), part = identification >> 4 & 0xfff;
    if (identification >> 24 != kArm || (part != kCortexA53 && part != kCortexA55)) return false;
  }
  return true;
}

// [size of kTables]
const Kernels* const* tables() { return all_cores_issue_in_order() ? kInOrderTables : kTables; }
#elif defined(__x86_64__)
// The same for CPUs of AMD.
const Kernels* const kAmdTables[] = {
    &kernels_x86_avx512vnni_amd,
    &kernels_x86_avx512vnni,
    &kernels_x86_avxvnni,
    &kernels_x86_avx2,
    &kernels_reference,
};
static_assert(count_of(kAmdTables) == count_of(kTables), "the same tables");

const Kernels* const* tables() {
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") ? kAmdTables : kTables;
}
#else
const Kernels* const* tables() { return kTables; }
#endif

// Returns all features except AVX-VNNI.
uint32_t features_but_avx_vnni() {
  uint32_t features = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) features |= kCpuAvx2;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) features |= kCpuAvx512;
  if (avx512 && __builtin_cpu_supports("avx512vnni")) features |= kCpuAvx512Vnni;
#elif defined(__aarch64__)
  features = arm64_features([](const ArmFeature& entry) {
#if defined(__linux__)
    return (getauxval(entry.linux_bit < 32 ? AT_HWCAP : AT_HWCAP2) >> entry.linux_bit % 32 & 1) != 0;
#elif defined(__APPLE__)
    int32_t value = 0;
    size_t bytes = sizeof value;
    return sysctlbyname(entry.macos, &value, &bytes, nullptr, 0) == 0 && value != 0;
#elif defined(_WIN32)
    return IsProcessorFeaturePresent(entry.windows) != 0;
#else
    return entry.feature == kCpuCrc32;  // unknown
#endif
  });
#elif defined(__arm__) && defined(__linux__)
  if ((getauxval(AT_HWCAP) & HWCAP_NEON) != 0) features |= kCpuNeon;
#elif defined(__riscv) && defined(__linux__)
  features = riscv64_features(getauxval(AT_HWCAP));
#endif
  return features;
}

// Call it only on a CPU with AVX2: CPUID traps in a virtual machine, where it takes microseconds.
bool has_avx_vnni() {
#if defined(__x86_64__)
  // Leaf 7, subleaf 1: bit 4 of EAX. The __builtin_cpu_supports of older compilers does not know it.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 1u << 4) != 0;
#else
  return false;
#endif
}

bool this_cpu_runs(const Kernels& table) {
  const uint32_t missing = table.cpu_features & ~features_but_avx_vnni();
  return missing == 0 || (missing == kCpuAvxVnni && has_avx_vnni());
}
}  // namespace

uint32_t detect_cpu_features() {
  const uint32_t features = features_but_avx_vnni();
  return (features & kCpuAvx2) != 0 && has_avx_vnni() ? features | kCpuAvxVnni : features;
}

const Kernels* kernels_at(uint32_t index) {
  const Kernels* const* const best_first = tables();
  for (size_t i = 0; i < count_of(kTables); ++i)
    if (this_cpu_runs(*best_first[i]) && index-- == 0) return best_first[i];
  return nullptr;
}

const char* wanted_kernels(const char* name) { return name != nullptr ? name : getenv("GOLDCREST_KERNELS"); }

const Kernels* select_kernels(const char* name) {
  name = wanted_kernels(name);
  if (name == nullptr) return kernels_at(0);
  for (const Kernels* table : kTables)
    if (strcmp(name, table->name) == 0 && this_cpu_runs(*table)) return table;
  return nullptr;
}

const char* kernels_reason() {
  if (getenv("GOLDCREST_KERNELS") != nullptr) return "GOLDCREST_KERNELS names it";
#if defined(__aarch64__) && defined(__linux__)
  if (tables() == kInOrderTables) return "every CPU of this process is a Cortex-A53 or A55";
#endif
  return "the best that this CPU runs";
}
}  // namespace goldcrest

extern "C" const char* goldcrest_kernels_built(uint32_t index) {
  return index < count_of(goldcrest::kTables) ? goldcrest::tables()[index]->name : nullptr;
}
