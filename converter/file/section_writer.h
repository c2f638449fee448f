// SPDX-License-Identifier: Apache-2.0
// The bytes of one section while they are put together: arrays, each at a multiple of 64.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/align.h"
#include "model_generated.h"
#include "spec/error.h"

namespace goldcrest::converter {

struct SectionBytes {
  format::SectionKind kind = format::SectionKind::Weights;
  std::vector<uint8_t> bytes;
};

class SectionWriter {
 public:
  explicit SectionWriter(format::SectionKind kind) : section_{kind, {}} {}

  // Returns the array's offset in units. Array: contiguous numbers or characters.
  template <typename Array>
  uint32_t append(const Array& values) {
    const uint64_t offset = align_bytes(section_.bytes.size()), size = values.size() * sizeof(values[0]);
    if (size == 0) return 0;
    if (offset / kAlignment > UINT32_MAX) throw Error("the model is too large: a section goes beyond 256 GiB");
    section_.bytes.resize(offset + size);
    std::memcpy(&section_.bytes[offset], values.data(), size);
    return static_cast<uint32_t>(offset / kAlignment);
  }

  // The same, but an array that was appended by this function before is not stored again.
  template <typename Array>
  uint32_t append_once(const Array& values) {
    const uint64_t size = values.size() * sizeof(values[0]);
    for (const auto& [offset, stored_size] : shared_) {
      if (stored_size == size && std::memcmp(&section_.bytes[offset * kAlignment], values.data(), size) == 0)
        return offset;
    }
    const uint32_t offset = append(values);
    if (size != 0) shared_.emplace_back(offset, size);
    return offset;
  }

  SectionBytes take() { return std::move(section_); }

 private:
  SectionBytes section_;
  std::vector<std::pair<uint32_t, uint64_t>> shared_;  // offset in units, bytes
};

}  // namespace goldcrest::converter
