// SPDX-License-Identifier: Apache-2.0
// Converts a stored array to floats one block at a time, so that only the floats take memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sources/containers/element_type.h"
#include "sources/files/input_file.h"

namespace goldcrest::converter {

// Fills all of `values` from the little-endian elements that begin at byte `offset`. Throws Error as InputFile::read
// does.
void read_elements(const InputFile& file, uint64_t offset, ElementType type, std::vector<float>& values);

}  // namespace goldcrest::converter
