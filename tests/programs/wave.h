// SPDX-License-Identifier: Apache-2.0
// Samples and WAV files of tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace goldcrest::test {
using Samples = std::vector<int16_t>;

constexpr uint32_t kRate = 16000;

inline std::string little_endian(uint64_t value, size_t n) {
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}
inline std::string u16(uint32_t value) { return little_endian(value, 2); }
inline std::string u32(uint32_t value) { return little_endian(value, 4); }

inline std::string bytes_of(const Samples& samples) {
  std::string bytes;
  for (const int16_t sample : samples) bytes += u16(static_cast<uint16_t>(sample));
  return bytes;
}

inline std::string chunk(const std::string& tag, const std::string& content) {
  return tag + u32(static_cast<uint32_t>(content.size())) + content + std::string(content.size() % 2, '\0');
}

struct Wave {
  uint32_t kind = 1, channels = 1, bits = 16, rate = kRate;
  uint32_t frame_bytes = 0;  // 0: as channels and bits say
  std::string format_tail = {}, before_data = {}, after_data = {};

  std::string format() const {
    const uint32_t n = frame_bytes != 0 ? frame_bytes : channels * ((bits + 7) / 8);
    return u16(kind) + u16(channels) + u32(rate) + u32(rate * n) + u16(n) + u16(bits) + format_tail;
  }
  std::string file(const std::string& data) const {
    const std::string content = "WAVE" + chunk("fmt ", format()) + before_data + chunk("data", data) + after_data;
    return "RIFF" + u32(static_cast<uint32_t>(content.size())) + content;
  }
  std::string file(const Samples& samples) const { return file(bytes_of(samples)); }
};

// A WAV file whose header says that the samples have this many bytes.
inline std::string sized_wave(const Samples& samples, uint32_t data_bytes) {
  std::string file = Wave().file(samples);
  return file.replace(file.size() - 2 * samples.size() - 4, 4, u32(data_bytes));
}
}  // namespace goldcrest::test
