// SPDX-License-Identifier: Apache-2.0
// The options of this build of the engine, as CMake sets them, and the features of files that it runs.
#pragma once

#include <stdint.h>

namespace goldcrest {
// A macro that is not defined expands to its own name, which begins with G.
constexpr bool is_defined(const char* expanded_option) { return expanded_option[0] != 'G'; }

// kHasFloat32 and so on: whether this build has an option. kFeatureFloat32 and so on: a bit of a file's features.
#define GOLDCREST_QUOTE(tokens) #tokens
#define GOLDCREST_OPTION(name, option, ...)                        \
  constexpr bool kHas##name = is_defined(GOLDCREST_QUOTE(option)); \
  constexpr const char* kNo##name = "needs " #option;
#define GOLDCREST_FEATURE(name, bit, option) constexpr uint32_t kFeature##name = bit;
#include "base/features-inl.h"
#undef GOLDCREST_OPTION
#undef GOLDCREST_FEATURE
#undef GOLDCREST_QUOTE

#ifdef GOLDCREST_BACKENDS
constexpr bool kHasSystem = true;  // an operating system: goldcrest_config.backend works, and cores may be unequal
#else
constexpr bool kHasSystem = false;
#endif

// Firmware does not expand packed weights, which takes flash and stack: Kernels.int8.linear multiplies them. Drafts
// save reads of weights, and few cores of firmware wait for these.
constexpr bool kHasPacked = kHasAccuracy, kExpandsPacked = kHasPacked && kHasSystem,
               kHasDrafts = kHasPrompt && kHasSystem;
// stored: whether a matrix is packed. Builds without packed weights do not read it.
[[gnu::always_inline]] constexpr bool has_packed(bool stored) { return kHasPacked && stored; }

// The features that this build runs. It refuses a file with any other bit.
#define GOLDCREST_OPTION(...)
#define GOLDCREST_FEATURE(name, bit, option) | (kHas##option ? kFeature##name : 0)
constexpr uint32_t kSupportedFeatures = 0
#include "base/features-inl.h"
    ;
#undef GOLDCREST_OPTION
#undef GOLDCREST_FEATURE

// A file with timestamps has a frontend, too.
constexpr bool kHasTimestamps = kHasSearch && kHasSpeech;

// Returns the refusal of a file with these features, which names the option of the first that this build lacks; null if
// this source does not know it.
constexpr const char* refusal_of(uint32_t features) {
#define GOLDCREST_OPTION(...)
#define GOLDCREST_FEATURE(name, bit, option) \
  if (!kHas##option && (features & kFeature##name) != 0) return kNo##option;
#include "base/features-inl.h"
#undef GOLDCREST_OPTION
#undef GOLDCREST_FEATURE
  return nullptr;
}

// Returns whether a file that this build runs has a feature. The bit of one that the build lacks is never set, so what
// depends on it is not compiled.
constexpr bool has_feature(uint32_t features, uint32_t feature) {
  return (features & feature & kSupportedFeatures) != 0;
}
}  // namespace goldcrest
