// SPDX-License-Identifier: Apache-2.0
// Attention whose heads are narrower than the engine's: rows and columns of zeros make them as wide, which changes no
// value.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Queries and keys have query.weight->rows / n_heads rows a head, values out.weight->columns / n_heads; then d_head.
void pad_heads(AttentionSpec& attention, uint32_t n_heads, uint32_t d_head);

}  // namespace goldcrest::converter
