// SPDX-License-Identifier: Apache-2.0
// Replaces the compiler's header of this name.
#include "immintrin.h"
