// SPDX-License-Identifier: Apache-2.0
// The features of this build of the engine, as its CMake options say.
#pragma once

#include <stdint.h>

namespace goldcrest {

// A macro that is not defined expands to its own name, which begins with G.
constexpr bool is_defined(const char* expanded_option) { return expanded_option[0] != 'G'; }

// kHasFloat32 and so on: whether this build has the feature; kFeatureFloat32 and so on: its bit in a file's features.
#define GOLDCREST_TEXT(tokens) #tokens
#define GOLDCREST_FEATURE(name, bit, option, ...)                 \
  constexpr bool kHas##name = is_defined(GOLDCREST_TEXT(option)); \
  constexpr uint32_t kFeature##name = bit;
#include "base/features-inl.h"
#undef GOLDCREST_FEATURE

// The features that this build runs. It refuses a file with any other bit.
#define GOLDCREST_FEATURE(name, ...) | (kHas##name ? kFeature##name : 0)
constexpr uint32_t kSupportedFeatures = 0
#include "base/features-inl.h"
    ;
#undef GOLDCREST_FEATURE
#undef GOLDCREST_TEXT

// The bits AttentionBias, Rotary and Frontend: only files with one of them may leave positions unused.
constexpr uint32_t kFeaturesWithoutPositions = kFeatureAttentionBias | kFeatureRotary | kFeatureFrontend;

// Sources of this build may limit the lengths of their texts. Clips do so without rules, too.
constexpr bool kLimitsBySource = kHasRules || kHasFrontend;

#ifdef GOLDCREST_BACKENDS
constexpr bool kHasBackends = true;  // goldcrest_config.backend works; only with an operating system
#else
constexpr bool kHasBackends = false;
#endif

constexpr bool has_feature(uint32_t features, uint32_t feature) { return (features & feature) != 0; }

}  // namespace goldcrest
