// SPDX-License-Identifier: Apache-2.0
// The element types that checkpoints store, and their conversion to float.
#include "sources/containers/element_type.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace goldcrest::converter {
static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian and are read in place");

namespace {
template <typename Element> void convert(const void* elements, uint64_t n, float* values) {
  const auto* bytes = static_cast<const char*>(elements);
  for (uint64_t i = 0; i < n; ++i) {
    Element element;
    std::memcpy(&element, bytes + i * sizeof(Element), sizeof(Element));
    values[i] = static_cast<float>(element);
  }
}

// IEEE 754 binary16 to binary32, exact.
float from_half(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, exponent = (half >> 10) & 0x1F, mantissa = half & 0x3FF;
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
  const uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide_exponent << 23 | mantissa << 13);
}

void convert_16_bit(ElementType type, const void* elements, uint64_t n, float* values) {
  const auto* bytes = static_cast<const char*>(elements);
  for (uint64_t i = 0; i < n; ++i) {
    uint16_t element;
    std::memcpy(&element, bytes + 2 * i, 2);
    values[i] = type == ElementType::kF16 ? from_half(element) : std::bit_cast<float>(uint32_t{element} << 16);
  }
}
}  // namespace

uint32_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kI64:
    case ElementType::kU64: return 8;
    case ElementType::kF32:
    case ElementType::kI32:
    case ElementType::kU32: return 4;
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kI16:
    case ElementType::kU16: return 2;
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool: break;
  }
  return 1;
}

void widen(ElementType type, const void* elements, uint64_t n, float* values) {
  switch (type) {
    case ElementType::kF64: return convert<double>(elements, n, values);
    case ElementType::kF32: return convert<float>(elements, n, values);
    case ElementType::kF16:
    case ElementType::kBf16: return convert_16_bit(type, elements, n, values);
    case ElementType::kI64: return convert<int64_t>(elements, n, values);
    case ElementType::kI32: return convert<int32_t>(elements, n, values);
    case ElementType::kI16: return convert<int16_t>(elements, n, values);
    case ElementType::kI8: return convert<int8_t>(elements, n, values);
    case ElementType::kU64: return convert<uint64_t>(elements, n, values);
    case ElementType::kU32: return convert<uint32_t>(elements, n, values);
    case ElementType::kU16: return convert<uint16_t>(elements, n, values);
    case ElementType::kU8:
    case ElementType::kBool: return convert<uint8_t>(elements, n, values);
  }
}

std::vector<float> zeros(const std::vector<uint64_t>& shape) {
  const uint64_t n = element_count(shape).value();
  std::vector<float> values;
  values.reserve(n == 0 || shape.empty() ? n : n + shape.back());
  values.resize(n);
  return values;
}

std::optional<uint64_t> element_count(const std::vector<uint64_t>& shape) {
  constexpr uint64_t kMax = uint64_t{1} << 58;  // times 8 bytes fits 62 bits
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  uint64_t n = 1;
  for (const uint64_t size : shape) {
    if (size > kMax / n) return std::nullopt;
    n *= size;
  }
  return n;
}

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
