// SPDX-License-Identifier: Apache-2.0
// --matrices keys: subtracts from the keys of an attention their mean. A vector that all keys contain adds the same
// number to all scores of a query, and a soft-max does not see it, so the float model stays what it is. An int8 key of
// a head has a single scale, and a large mean takes its bits from what differs (Zhang et al. 2024, SageAttention).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
struct CentredKeys {
  size_t heads = 0, centred = 0;  // all attentions together
};

// Changes the biases of keys. The mean is that of these sources, and of 16 greedy tokens for each, end tokens left out.
// A head is centred if this takes a quarter of its squared scales. Keys that turn by their positions stay as they are.
// `progress` counts sources; may be empty. Throws Error as the reference does.
CentredKeys centre_keys(const std::vector<std::vector<int32_t>>& sources,
    const std::function<void(size_t done, size_t total)>& progress, ModelSpec& spec);

// Returns one line, with its line end.
std::string to_text(const CentredKeys& keys);
}  // namespace goldcrest::converter
