// SPDX-License-Identifier: Apache-2.0
// Reads sound as 16-bit samples of one channel at a model's rate: of a WAV file, or raw ones from a pipe. Its input is
// hostile until checked. Other files are refused by their names, with the command that converts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "goldcrest/resample.h"

namespace goldcrest::host {
// Returns the arguments of an ffmpeg that reads the file `name` (empty: its standard input) and writes a WAV file
// `output` (empty: to its standard output).
std::vector<std::string> ffmpeg_arguments(const std::string& name, const std::string& output, uint32_t sample_rate);

// Turns frames of little-endian samples, as they come in parts, into those that a model takes.
class FrameConverter {
 public:
  // Returns why it does not read integers of `width` bytes at this rate and in these channels, or "".
  std::string begin(uint32_t rate, uint32_t width, uint32_t channels, uint32_t sample_rate);
  // Appends what the bytes give. The bytes of a frame may come in two calls.
  void push(const uint8_t* bytes, size_t n, std::vector<int16_t>* samples);
  // Appends what the resampler still has, at the end. A part of a frame is left out.
  void finish(std::vector<int16_t>* samples);
 private:
  void resample(const int16_t* from, size_t n, std::vector<int16_t>* samples);

  size_t width_ = 2, channels_ = 1;
  bool resamples_ = false;
  goldcrest_resampler resampler_ = {};
  std::vector<uint8_t> part_;  // a part of a frame
};

class WavReader {
 public:
  // Takes an open file and reads its header. name: for messages; empty: standard input. That may also be raw samples
  // (signed, 16 bits, low byte first, one channel, at the model's rate), if it begins like no known file of sound.
  // sample_rate: samples a second that the model takes. Returns an empty string, or the reason why the file cannot be
  // read. The file must outlive the reader.
  std::string open(std::FILE* file, const std::string& name, uint32_t sample_rate);

  // Reads up to n samples; several channels become their mean, and other rates the model's. Returns how many; fewer
  // than n only at the end, or if reading fails: then problem() says why.
  size_t read(int16_t* samples, size_t n);

  const std::string& problem() const { return problem_; }
 private:
  struct Format {
    uint32_t rate;
    uint16_t kind, channels, frame_bytes, bits;
  };

  size_t take(void* bytes, size_t n);
  bool fill_ahead(size_t n);
  bool skip(uint64_t n);
  std::string find_data(bool* is_found);
  void begin_data(uint32_t chunk_bytes);
  std::string read_format(uint32_t chunk_bytes);
  std::string check_format();
  std::string kind_of_file();
  size_t read_frames(int16_t* samples, size_t n);

  std::FILE* file_ = nullptr;
  uint32_t sample_rate_ = 0;
  Format format_ = {};            // without channels until it is known
  uint64_t bytes_left_ = 0;       // samples; UINT64_MAX: up to the end of the file
  uint64_t long_data_bytes_ = 0;  // what an RF64 file says of its data; 0: nothing
  bool is_padded_ = false;        // a zero follows the samples
  bool has_more_chunks_ = false;
  std::string problem_;
  std::vector<uint8_t> ahead_;  // bytes that were read in search of a header
  std::vector<uint8_t> bytes_;
  bool resamples_ = false, has_ended_ = false;
  goldcrest_resampler resampler_ = {};
  std::vector<int16_t> waiting_;  // samples for the resampler
  size_t n_used_ = 0;             // the first of them are used
};

// *samples <- those of a WAV file. Returns an empty string, or the reason why it cannot be read; a file that is cut, or
// of more than 2^29 samples, is not.
std::string read_wav(const std::string& path, uint32_t sample_rate, std::vector<int16_t>* samples);
}  // namespace goldcrest::host
