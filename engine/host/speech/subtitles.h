// SPDX-License-Identifier: Apache-2.0
// Makes subtitles that people can read of words with times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "host/speech/word_times.h"

struct Subtitle {
  std::string text;   // its lines, with a line feed between two
  double begin, end;  // seconds
};

struct SubtitleLimits {
  uint32_t line_width = 42;  // characters; a longer word has a line of its own
  uint32_t n_lines = 2;
};

// Returns subtitles of at most 7 s that break at pauses and marks. One that has more than 20 characters a second stays
// longer, or comes earlier, where nobody speaks: but not before `earliest` or after `latest`, in seconds.
std::vector<Subtitle> make_subtitles(
    const std::vector<goldcrest::host::TimedWord>& words, const SubtitleLimits& limits, double earliest, double latest);

// Returns the lines of a subtitle in a SubRip file, or in a WebVTT file after its first line. number: from 1.
std::string printed_subtitle(const Subtitle& subtitle, uint64_t number, bool is_vtt);
