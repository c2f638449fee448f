// SPDX-License-Identifier: Apache-2.0
// Collects the bytes of one section: arrays, each at a multiple of 64.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>
#include "base/align.h"
#include "spec/error.h"

namespace goldcrest::format {
enum class SectionKind : uint8_t;
}  // namespace goldcrest::format

namespace goldcrest::converter {
struct SectionBytes {
  format::SectionKind kind = {};
  std::vector<std::vector<uint8_t>> arrays;  // each at the next multiple of 64, with zeros between

  uint64_t size() const {  // bytes
    uint64_t end = 0;
    for (const std::vector<uint8_t>& array : arrays) end = align_bytes(end) + array.size();
    return end;
  }
  // Returns the byte at an offset, which must be inside an array.
  uint8_t& at(uint64_t offset) {
    for (std::vector<uint8_t>& array : arrays) {
      if (offset < array.size()) return array[offset];
      offset -= align_bytes(array.size());
    }
    throw Error("offset {} is in no array of the section", offset);
  }
};

class SectionWriter {
 public:
  explicit SectionWriter(format::SectionKind kind) : section_{kind, {}} {}

  // Appends an array and returns its offset in units. Array: contiguous numbers or characters.
  template <typename Array> uint32_t append(const Array& values) {
    const uint64_t units = units_, size = values.size() * sizeof(values[0]);
    if (size == 0) return 0;
    if (units > UINT32_MAX) throw Error("the model is too large: a section goes beyond 256 GiB");
    const auto* const bytes = reinterpret_cast<const uint8_t*>(values.data());
    section_.arrays.emplace_back(bytes, bytes + size);
    units_ += align_bytes(size) / kAlignment;
    return static_cast<uint32_t>(units);
  }

  // Does the same, but does not store an array again that this function has appended before.
  template <typename Array> uint32_t append_once(const Array& values) {
    const uint64_t size = values.size() * sizeof(values[0]);
    for (const auto& [units, index] : shared_) {
      const std::vector<uint8_t>& stored = section_.arrays[index];
      if (stored.size() == size && std::memcmp(stored.data(), values.data(), size) == 0) return units;
    }
    const uint32_t units = append(values);
    if (size != 0) shared_.emplace_back(units, section_.arrays.size() - 1);
    return units;
  }

  SectionBytes take() { return std::move(section_); }
 private:
  SectionBytes section_;
  uint64_t units_ = 0;                               // the arrays' units
  std::vector<std::pair<uint32_t, size_t>> shared_;  // offset in units, index of the array
};
}  // namespace goldcrest::converter
