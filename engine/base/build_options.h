// SPDX-License-Identifier: Apache-2.0
// What this build of the engine can do, by its CMake options.
#pragma once

namespace goldcrest {

#ifdef GOLDCREST_FLOAT32
constexpr bool kHasFloat32 = true;  // runs files with float32 weights
#else
constexpr bool kHasFloat32 = false;
#endif

#ifdef GOLDCREST_BACKENDS
constexpr bool kHasBackends = true;  // knows goldcrest_config.backend
#else
constexpr bool kHasBackends = false;
#endif

}  // namespace goldcrest
