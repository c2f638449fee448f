// SPDX-License-Identifier: Apache-2.0
// The element types that checkpoints store, and their conversion to float.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>
#include "sources/files/input_file.h"

namespace goldcrest::converter {
enum class ElementType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8, kBool };

uint32_t element_bytes(ElementType type);

// Converts n little-endian elements to values[0..n). F64 and wide integers are rounded to the nearest float.
void widen(ElementType type, const void* elements, uint64_t n, float* values);

// Returns a zero for each element of `shape`, whose element_count must exist. Reserves one more row (positions.h).
std::vector<float> zeros(const std::vector<uint64_t>& shape);

// Returns the product of the sizes (1 for a scalar), or nothing if the product or its bytes do not fit 62 bits.
std::optional<uint64_t> element_count(const std::vector<uint64_t>& shape);

// Fills all of `values` from the little-endian elements that begin at byte `offset`. Throws Error as InputFile::read
// does. Converts one block at a time, so that only the floats take memory.
void read_elements(const InputFile& file, uint64_t offset, ElementType type, std::vector<float>& values);
}  // namespace goldcrest::converter
