// SPDX-License-Identifier: Apache-2.0
// The structure of the metadata's FlatBuffer: every table, vector and string lies inside it, aligned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace goldcrest {

// After true, the generated accessors may be used on file[0..metadata_bytes). metadata_bytes >= 16.
bool metadata_is_sound(const uint8_t* file, size_t metadata_bytes);

}  // namespace goldcrest
