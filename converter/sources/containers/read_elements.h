// SPDX-License-Identifier: Apache-2.0
// A stored array to floats, a block at a time, so that nothing but the floats takes memory.
#pragma once

#include <cstdint>
#include <vector>

#include "sources/containers/element_type.h"
#include "sources/files/input_file.h"

namespace goldcrest::converter {

// All of `values` from little-endian elements that begin at a byte of the file. Throws Error as InputFile::read does.
void read_elements(const InputFile& file, uint64_t offset, ElementType type, std::vector<float>& values);

}  // namespace goldcrest::converter
