// SPDX-License-Identifier: Apache-2.0
// Pads attention heads that are narrower than the engine's with rows and columns of zeros. This changes no value.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Queries and keys have query.weight->rows / n_heads rows per head, values out.weight->columns / n_heads. Afterwards
// each has d_head.
void pad_heads(AttentionSpec& attention, uint32_t n_heads, uint32_t d_head);

}  // namespace goldcrest::converter
