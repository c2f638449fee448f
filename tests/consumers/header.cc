// SPDX-License-Identifier: Apache-2.0
// The emitted header in C++: constants, limits and the array's declaration.
#include "model_g2p.h"

static_assert(MODEL_G2P_ARENA_BYTES % GOLDCREST_ALIGN == 0 && MODEL_G2P_STACK_BYTES == GOLDCREST_STACK_BYTES);
static_assert(sizeof model_g2p == MODEL_G2P_BYTES);
constexpr goldcrest_limits kLimits = MODEL_G2P_LIMITS;
static_assert(kLimits.max_source_tokens == MODEL_G2P_MAX_SOURCE_TOKENS && kLimits.threads == 1);
