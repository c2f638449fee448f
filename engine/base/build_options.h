// SPDX-License-Identifier: Apache-2.0
// What this build of the engine can do, by its CMake options.
#pragma once

#include <cstdint>

namespace goldcrest {

#ifdef GOLDCREST_FLOAT32
constexpr bool kHasFloat32 = true;  // runs files with float32 weights
#else
constexpr bool kHasFloat32 = false;
#endif

#ifdef GOLDCREST_SSRU
constexpr bool kHasSsru = true;  // runs files with recurrent layers
#else
constexpr bool kHasSsru = false;
#endif

#ifdef GOLDCREST_SHORTLIST
constexpr bool kHasShortlist = true;  // runs files with a shortlist
#else
constexpr bool kHasShortlist = false;
#endif

#ifdef GOLDCREST_SUBWORD
constexpr bool kHasSubword = true;  // runs files whose texts subword-nmt's merges cut
#else
constexpr bool kHasSubword = false;
#endif

#ifdef GOLDCREST_BACKENDS
constexpr bool kHasBackends = true;  // knows goldcrest_config.backend
#else
constexpr bool kHasBackends = false;
#endif

#ifdef GOLDCREST_RULES
constexpr bool kHasRules = true;  // knows the rules of a search beyond lengths and suppressed ids
#else
constexpr bool kHasRules = false;
#endif

#ifdef GOLDCREST_INSPECTION
constexpr bool kHasInspection = true;  // tells token scores and alignments, scores given targets
#else
constexpr bool kHasInspection = false;
#endif

#ifdef GOLDCREST_UNEQUAL_CORES
constexpr bool kHasUnequalCores = true;  // gives out work in more pieces than there are tasks
#else
constexpr bool kHasUnequalCores = false;
#endif

// Bits of a file's features (schema/model.fbs, Feature).
constexpr uint32_t kFeatureFloat32 = 1, kFeatureRecurrent = 32, kFeatureShortlist = 512, kFeatureRules = 8192,
                   kFeatureSubword = 131072;

// What this build runs: it refuses a file with any other bit.
constexpr uint32_t kSupportedFeatures = (kHasFloat32 ? kFeatureFloat32 : 0) | (kHasSsru ? kFeatureRecurrent : 0) |
                                        (kHasShortlist ? kFeatureShortlist : 0) | (kHasRules ? kFeatureRules : 0) |
                                        (kHasSubword ? kFeatureSubword : 0);

constexpr bool has_feature(uint32_t features, uint32_t feature) { return (features & feature) != 0; }

}  // namespace goldcrest
