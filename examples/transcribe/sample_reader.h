// SPDX-License-Identifier: Apache-2.0
// Reads 16-bit samples as one channel: of a WAV file, or raw ones from a pipe. Its input is hostile until checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

class SampleReader {
 public:
  // Takes an open file and reads its header, if it begins with one; else its bytes are samples (signed, 16 bits, low
  // byte first, one channel). Returns an empty string, or the reason why it cannot be read. sample_rate: samples a
  // second that the model takes. The file must outlive the reader.
  std::string open(std::FILE* file, uint32_t sample_rate);

  // Reads up to n samples; several channels become their mean. Returns how many; fewer than n only at the end, or if
  // reading fails: then problem() says why.
  size_t read(int16_t* samples, size_t n);

  const std::string& problem() const { return problem_; }

 private:
  struct Format {
    uint32_t rate;
    uint16_t kind, channels, frame_bytes, bits;
  };

  bool take(void* bytes, size_t n);
  bool skip(uint64_t n);
  std::string read_header();
  std::string read_format(uint32_t chunk_bytes, Format* format);
  std::string check_format(const Format& format) const;

  std::FILE* file_ = nullptr;
  uint32_t sample_rate_ = 0;
  size_t channels_ = 1;
  uint64_t bytes_left_ = UINT64_MAX;  // of samples; UINT64_MAX: up to the end of the file
  std::string problem_;
  std::vector<uint8_t> ahead_;  // raw samples that were read in search of a header
  std::vector<uint8_t> bytes_;
};
