// SPDX-License-Identifier: Apache-2.0
#include "sources/containers/read_elements.h"

#include <algorithm>

namespace goldcrest::converter {

void read_elements(const InputFile& file, uint64_t offset, ElementType type, std::vector<float>& values) {
  constexpr uint64_t kBlock = uint64_t{1} << 17;  // elements
  const uint64_t element = element_bytes(type);
  std::vector<char> bytes(std::min<uint64_t>(kBlock, values.size()) * element);
  for (uint64_t done = 0; done < values.size(); done += kBlock) {
    const uint64_t n = std::min<uint64_t>(kBlock, values.size() - done);
    file.read(offset + done * element, n * element, bytes.data());
    widen(type, bytes.data(), n, values.data() + done);
  }
}

}  // namespace goldcrest::converter
