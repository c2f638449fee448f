// SPDX-License-Identifier: Apache-2.0
// Reads the ids that a model's sources end with.
#pragma once

#include <cstdint>
#include <vector>

// Takes a model that goldcrest_model_info accepts. Returns nothing for a model that adds no ids to a source.
std::vector<int32_t> source_end(const void* model);
