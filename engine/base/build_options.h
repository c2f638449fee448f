// SPDX-License-Identifier: Apache-2.0
// What this build of the engine can do, by its CMake options.
#pragma once

#include <cstdint>

namespace goldcrest {

// An option that is not defined expands to its own name.
constexpr bool is_defined(const char* expanded_option) { return expanded_option[0] != 'G'; }

// kHasFloat32, kFeatureFloat32 and so on: whether this build has it, and its bit of a file's features.
#define GOLDCREST_TEXT(tokens) #tokens
#define GOLDCREST_FEATURE(name, bit, option, ...)                 \
  constexpr bool kHas##name = is_defined(GOLDCREST_TEXT(option)); \
  constexpr uint32_t kFeature##name = bit;
#include "base/features-inl.h"
#undef GOLDCREST_FEATURE

// What this build runs: it refuses a file with any other bit.
#define GOLDCREST_FEATURE(name, ...) | (kHas##name ? kFeature##name : 0)
constexpr uint32_t kSupportedFeatures = 0
#include "base/features-inl.h"
    ;
#undef GOLDCREST_FEATURE
#undef GOLDCREST_TEXT

#ifdef GOLDCREST_BACKENDS
constexpr bool kHasBackends = true;  // knows goldcrest_config.backend; not without an operating system
#else
constexpr bool kHasBackends = false;
#endif

constexpr bool has_feature(uint32_t features, uint32_t feature) { return (features & feature) != 0; }

}  // namespace goldcrest
