// SPDX-License-Identifier: Apache-2.0
// WAV: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0, 1991, chapter 3.
#include "sample_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace {

constexpr uint16_t kPcm = 1, kExtensible = 0xFFFE;
constexpr uint32_t kMostChannels = 64;
// Programs that write to a pipe cannot know a length: ffmpeg and sox write the largest one, arecord about half of it.
constexpr uint32_t kUnknownLength = 0x7FFF0000;

uint16_t u16(const uint8_t* bytes) { return static_cast<uint16_t>(bytes[0] | bytes[1] << 8); }
uint32_t u32(const uint8_t* bytes) { return u16(bytes) | static_cast<uint32_t>(u16(bytes + 2)) << 16; }
bool is_tag(const uint8_t* bytes, const char* tag) { return std::memcmp(bytes, tag, 4) == 0; }

}  // namespace

bool SampleReader::take(void* bytes, size_t n) { return std::fread(bytes, 1, n, file_) == n; }

// Reads bytes away, because a pipe cannot seek.
bool SampleReader::skip(uint64_t n) {
  uint8_t block[4096];
  while (n > 0) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(n, sizeof(block)));
    if (!take(block, part)) return false;
    n -= part;
  }
  return true;
}

std::string SampleReader::open(std::FILE* file, uint32_t sample_rate) {
  file_ = file;
  sample_rate_ = sample_rate;
  channels_ = 1;
  bytes_left_ = UINT64_MAX;
  problem_.clear();
  ahead_.resize(4);
  ahead_.resize(std::fread(ahead_.data(), 1, ahead_.size(), file_));
  if (std::ferror(file_) != 0) return std::string("cannot be read: ") + std::strerror(errno);
  if (ahead_.size() < 4 || !is_tag(ahead_.data(), "RIFF")) return "";
  ahead_.clear();
  return read_header();
}

std::string SampleReader::read_header() {
  const std::string cut = "the file ends inside its WAV header";
  uint8_t header[8];
  if (!take(header, 8)) return cut;
  if (!is_tag(header + 4, "WAVE")) return "a RIFF file, but not of kind WAVE";
  Format format = {};
  while (true) {
    if (!take(header, 8)) return format.channels == 0 ? cut : "a WAV file without a chunk \"data\"";
    const uint32_t chunk_bytes = u32(header + 4);
    if (is_tag(header, "data")) {
      if (format.channels == 0) return "a WAV file whose chunk \"data\" comes before its chunk \"fmt \"";
      channels_ = format.channels;
      if (chunk_bytes < kUnknownLength) bytes_left_ = chunk_bytes;
      return "";
    }
    if (is_tag(header, "fmt ")) {
      if (format.channels != 0) return "a WAV file with two chunks \"fmt \"";
      std::string problem = read_format(chunk_bytes, &format);
      if (problem.empty()) problem = check_format(format);
      if (!problem.empty()) return problem;
    } else if (!skip(uint64_t{chunk_bytes} + chunk_bytes % 2)) {
      return cut;
    }
  }
}

std::string SampleReader::read_format(uint32_t chunk_bytes, Format* format) {
  uint8_t bytes[40] = {};
  const uint32_t known = std::min<uint32_t>(chunk_bytes, sizeof(bytes));
  if (chunk_bytes < 16)
    return "a WAV file whose chunk \"fmt \" has " + std::to_string(chunk_bytes) + " bytes; expected 16 or more";
  if (!take(bytes, known) || !skip(uint64_t{chunk_bytes} - known + chunk_bytes % 2)) {
    return "the file ends inside its WAV header";
  }
  *format = {u32(bytes + 4), u16(bytes), u16(bytes + 2), u16(bytes + 12), u16(bytes + 14)};
  if (format->kind == kExtensible && known == sizeof(bytes)) format->kind = u16(bytes + 24);
  return "";
}

std::string SampleReader::check_format(const Format& format) const {
  const std::string wanted = std::to_string(sample_rate_);
  const std::string convert =
      "; this makes such a file: ffmpeg -i CLIP -ar " + wanted + " -ac 1 -c:a pcm_s16le OUT.wav";
  if (format.kind != kPcm || format.bits != 16) {
    return "a WAV file of format " + std::to_string(format.kind) + " with " + std::to_string(format.bits) +
           " bits a sample; expected PCM (format 1) with 16 bits" + convert;
  }
  if (format.channels == 0 || format.channels > kMostChannels || format.frame_bytes != 2 * format.channels) {
    return "a WAV file with " + std::to_string(format.channels) + " channels in frames of " +
           std::to_string(format.frame_bytes) + " bytes; expected 1 to 64 channels of 2 bytes each";
  }
  if (format.rate == sample_rate_) return "";
  return "has " + std::to_string(format.rate) + " samples a second; the model takes " + wanted + convert;
}

size_t SampleReader::read(int16_t* samples, size_t n) {
  const size_t frame_bytes = 2 * channels_;
  const uint64_t wanted = std::min<uint64_t>(uint64_t{n} * frame_bytes, bytes_left_);
  bytes_.resize(static_cast<size_t>(wanted));
  const size_t before = std::min(ahead_.size(), bytes_.size());
  std::copy_n(ahead_.begin(), before, bytes_.begin());
  ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(before));
  const size_t found = before + std::fread(bytes_.data() + before, 1, bytes_.size() - before, file_);
  if (std::ferror(file_) != 0) problem_ = std::string("cannot be read: ") + std::strerror(errno);
  if (bytes_left_ != UINT64_MAX) {
    if (found < wanted && problem_.empty()) {
      problem_ =
          "the WAV header says " + std::to_string(bytes_left_ - found) + " bytes of samples more than the file has";
    }
    bytes_left_ -= found;
  }
  if (found % frame_bytes != 0 && problem_.empty()) problem_ = "the samples end inside one of them";
  const size_t n_read = found / frame_bytes;
  for (size_t i = 0; i < n_read; ++i) {
    int32_t sum = 0;
    for (size_t c = 0; c < channels_; ++c) sum += static_cast<int16_t>(u16(&bytes_[i * frame_bytes + 2 * c]));
    samples[i] = static_cast<int16_t>(sum / static_cast<int32_t>(channels_));
  }
  return n_read;
}
