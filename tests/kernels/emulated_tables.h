// SPDX-License-Identifier: Apache-2.0
// The tables of x86 over emulated intrinsics (intrinsics/CMakeLists.txt).
#pragma once

#include "kernels/kernels.h"

namespace goldcrest {
#if defined(__x86_64__)
extern const Kernels kernels_x86_avx512vnni_emulated;
extern const Kernels kernels_x86_avx512vnni_amd_emulated;
extern const Kernels kernels_x86_avxvnni_emulated;
extern const Kernels kernels_x86_avx2_emulated;

inline constexpr const Kernels* kEmulatedTables[] = {&kernels_x86_avx512vnni_emulated,
    &kernels_x86_avx512vnni_amd_emulated, &kernels_x86_avxvnni_emulated, &kernels_x86_avx2_emulated};
#endif
}  // namespace goldcrest
