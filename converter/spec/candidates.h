// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include "spec/shortlist.h"
namespace goldcrest::converter {
std::vector<uint32_t> candidates_of(const ShortlistSpec& shortlist, std::span<const int32_t> source,
                                    std::span<const uint32_t> end_ids);
}
