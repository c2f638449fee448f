// SPDX-License-Identifier: Apache-2.0
// The element types that checkpoints store, and their conversion to float.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace goldcrest::converter {

enum class ElementType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

uint32_t element_bytes(ElementType type);

// values[0..n) from n little-endian elements; F64 and wide integers are rounded to the nearest float.
void widen(ElementType type, const void* elements, uint64_t n, float* values);

// Zeros for all elements of a shape that element_count has, with room for a row more (start_row.h).
std::vector<float> zeros(const std::vector<uint64_t>& shape);

// The product of the sizes (1 for a scalar), or nothing when it, or its bytes, do not fit 62 bits.
std::optional<uint64_t> element_count(const std::vector<uint64_t>& shape);

}  // namespace goldcrest::converter
