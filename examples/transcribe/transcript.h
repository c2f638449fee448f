// SPDX-License-Identifier: Apache-2.0
// Prints the texts of utterances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "options.h"

class Transcript {
 public:
  Transcript(Format format, uint32_t sample_rate) : format_(format), sample_rate_(sample_rate) {}

  // Prints the text of n samples of a clip from `begin` on. In Format::kText the texts of a clip become one line, but
  // those of standard input (an empty name) one each.
  void add(const std::string& clip, uint64_t begin, size_t n, const std::string& text);

  // Call it behind the last text of a clip.
  void end_clip(const std::string& clip);

 private:
  Format format_;
  uint32_t sample_rate_;
  std::string line_;
  uint64_t n_subtitles_ = 0;
};
