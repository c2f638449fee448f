// SPDX-License-Identifier: Apache-2.0
// The header of a NumPy array file (.npy): a magic number, a version and a Python dict as text. The dict is parsed and
// never evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {
constexpr uint64_t kMaxNumpyHeader = 10'012;  // bytes; NumPy itself reads dicts of at most 10,000

struct NumpyHeader {
  std::string type;  // "<f4": little-endian, float, 4 bytes
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;  // the header's; the elements follow it
};

// `start` is the start of the file: all of it, or at least kMaxNumpyHeader bytes. `where` begins the message of an
// Error. Arrays in Fortran order are refused.
NumpyHeader parse_numpy_header(std::string_view start, const std::string& where);
}  // namespace goldcrest::converter
