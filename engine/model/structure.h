// SPDX-License-Identifier: Apache-2.0
// Checks the structure of the metadata's FlatBuffer: every table, vector and string is inside it and aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace goldcrest {

// If it returns true, the generated accessors are safe on file[0..metadata_bytes). metadata_bytes >= 16.
bool metadata_is_sound(const uint8_t* file, size_t metadata_bytes);

}  // namespace goldcrest
