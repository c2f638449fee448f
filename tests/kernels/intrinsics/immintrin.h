// SPDX-License-Identifier: Apache-2.0
// Stands in for the compiler's header of this name: the intrinsics that engine/kernels/x86/*.cc use, in scalar code, so
// that every CPU computes what a table would. intrinsics_test compares each with its instruction.
#pragma once

#include "avx512.h"

using namespace goldcrest::intrinsics;  // the names are global

// No function here needs more of the CPU than another, and the emulated CPU has everything.
#define target(features)
#define __builtin_cpu_supports(feature) true
