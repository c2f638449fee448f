// SPDX-License-Identifier: Apache-2.0
// Replaces the compiler's header of this name: the intrinsics that engine/kernels/x86/*.cc use, in scalar code, so that
// every CPU can run every table. intrinsics_test compares each intrinsic with its instruction.
#pragma once

#include "avx512.h"

using namespace goldcrest::intrinsics;  // intrinsics are global names

// The emulated CPU has every feature, so no function needs a target attribute.
#define target(features)
#define __builtin_cpu_supports(feature) true
