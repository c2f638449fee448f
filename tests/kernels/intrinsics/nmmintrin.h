// SPDX-License-Identifier: Apache-2.0
// Stands in for the compiler's header of this name.
#include "immintrin.h"
