// SPDX-License-Identifier: Apache-2.0
// Prints the texts of utterances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "host/speech/utterances.h"
#include "options.h"

// Returns the words with which both texts begin. Texts without spaces are compared by characters.
std::string agreed_words(const std::string& a, const std::string& b);

class Transcript {
 public:
  // rewrites: standard output is a terminal, on which a partial text can be replaced.
  Transcript(const TranscribeArguments& arguments, uint32_t sample_rate, bool rewrites)
      : arguments_(arguments), format_(arguments.format), sample_rate_(sample_rate), rewrites_(rewrites) {}

  // Shows what is known of an utterance that goes on.
  void show_partial(uint64_t begin, const std::string& text);

  // Prints the text of a part of a clip. In Format::kText the texts of a clip become one line, but
  // those of standard input (an empty name) one each.
  void add(const std::string& clip, const Utterance& utterance, const Transcription& made);

  // Call it after the last text of a clip, which has n samples. Times of the next clip go on from there, and so do the
  // numbers of subtitles: several clips are one recording. JSON names each clip, so its times begin at 0.
  void end_clip(const std::string& clip, uint64_t n);
 private:
  // A segment in seconds of the output: of the clip in JSON, else of all clips, which follow one another.
  Segment placed(const Utterance& utterance, const Segment& segment) const;
  std::string line(const std::string& text) const;
  double seconds(uint64_t sample) const;
  void print_subtitles(const Segment& segment, double earliest, double latest);
  void print_object(const std::string& clip, const Segment& segment, const Transcription& made);
  void print_segment(const std::string& clip, const Segment& segment);

  const TranscribeArguments& arguments_;
  Format format_;
  uint32_t sample_rate_;
  bool rewrites_;
  std::string line_;
  uint64_t n_subtitles_ = 0;
  uint64_t n_before_ = 0;     // samples of earlier clips
  double subtitles_end_ = 0;  // seconds: of the last one
};
