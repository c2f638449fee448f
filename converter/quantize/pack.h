// SPDX-License-Identifier: Apache-2.0
// The order of a padded int8 matrix's elements in the file (FORMAT.md, "Tensor layouts").
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/model_view.h"

namespace goldcrest::converter {

// The layout that the kernels of `cpu` stream fastest; every layout runs everywhere. Throws Error for an unknown name.
Layout layout_for_cpu(std::string_view cpu);

// Packs row-major `weights` into `layout`. Both dimensions are multiples of 16.
std::vector<int8_t> pack(std::span<const int8_t> weights, uint32_t rows, uint32_t columns, Layout layout);

// Unpacks from `layout` to row-major, the inverse of pack.
std::vector<int8_t> unpack(std::span<const int8_t> packed, uint32_t rows, uint32_t columns, Layout layout);

}  // namespace goldcrest::converter
