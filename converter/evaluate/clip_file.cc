// SPDX-License-Identifier: Apache-2.0
// The layout: Microsoft's Multimedia Programming Interface and Data Specifications 1.0 (1991), "RIFF WAVE".
#include "evaluate/clip_file.h"

#include <cstring>
#include <string_view>

#include "sources/files/input_file.h"
#include "sources/sniffing/peek.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr uint64_t kMaxWaveBytes = uint64_t{1} << 30;
constexpr size_t kHeaderBytes = 12, kChunkHeaderBytes = 8, kFormatBytes = 16;

[[noreturn]] void refuse(const std::filesystem::path& path, uint32_t sample_rate, const std::string& found) {
  throw Error("{}: {}; expected a WAV file of 16-bit PCM, one channel, {} Hz: ffmpeg -i {} -ac 1 -ar {} out.wav",
              path.string(), found, sample_rate, path.string(), sample_rate);
}

}  // namespace

std::vector<int16_t> read_clip(const std::filesystem::path& path, uint32_t sample_rate) {
  const std::string bytes = read_small_file(path, kMaxWaveBytes);
  const std::string_view file = bytes;
  if (file.size() < kHeaderBytes || !file.starts_with("RIFF") || file.substr(8, 4) != "WAVE")
    refuse(path, sample_rate, "is no WAV file");
  bool has_format = false;
  for (size_t at = kHeaderBytes; at + kChunkHeaderBytes <= file.size();) {
    const std::string_view kind = file.substr(at, 4);
    const uint64_t size = little_endian(file, at + 4, 4);
    at += kChunkHeaderBytes;
    if (size > file.size() - at) refuse(path, sample_rate, "ends inside a part of it");
    if (kind == "fmt " && size >= kFormatBytes) {
      const uint64_t format = little_endian(file, at, 2), channels = little_endian(file, at + 2, 2);
      const uint64_t rate = little_endian(file, at + 4, 4), bits = little_endian(file, at + 14, 2);
      if (format != 1 || channels != 1 || rate != sample_rate || bits != 16) {
        refuse(path, sample_rate,
               format_text("has the format {}, {} channels, {} Hz, {} bits", format, channels, rate, bits));
      }
      has_format = true;
    }
    if (kind == "data" && has_format) {
      std::vector<int16_t> samples(size / sizeof(int16_t));
      std::memcpy(samples.data(), file.data() + at, samples.size() * sizeof(int16_t));
      return samples;
    }
    at += size + size % 2;
  }
  refuse(path, sample_rate, "has no samples");
}

std::string spoken_words(const std::string& text) {
  std::string words;
  for (const char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z', is_digit = c >= '0' && c <= '9';
    const bool is_letter = is_upper || (c >= 'a' && c <= 'z') || (static_cast<uint8_t>(c) & 0x80) != 0;
    if (is_letter || is_digit) {
      words += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if ((c == ' ' || c == '\t' || c == '-') && !words.empty() && words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace goldcrest::converter
