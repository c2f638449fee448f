// SPDX-License-Identifier: Apache-2.0
// Finds speech by its energy, and cuts a stream of samples into utterances at pauses. Models write words into silence
// and noise, so a program that listens needs such a gate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

// A part of the stream.
struct Utterance {
  uint64_t begin;  // its first sample, counted from the start of the stream
  std::vector<int16_t> samples;
};

// Returns the share of samples at the loudest values. From kHardClipping on, loudness does not tell speech from pauses.
constexpr double kHardClipping = 0.25;
double clipped_share(const int16_t* samples, size_t n);

// Returns whether the samples have speech: some of them are loud, and these are much louder than the quiet ones.
// Silence, hum and steady noise have none.
bool has_speech(const int16_t* samples, size_t n, uint32_t sample_rate);

class UtteranceCutter {
 public:
  // max_samples: the most of an utterance. A longer one is cut where it is most quiet. at_pauses: each utterance ends
  // at the first pause, and what has no speech is left out; false: as late as max_samples allows, and nothing is left
  // out.
  UtteranceCutter(uint32_t sample_rate, size_t max_samples, bool at_pauses);

  // Takes the next samples of the stream.
  void push(const int16_t* samples, size_t n);

  // Call it after the last samples.
  void finish();

  // Moves the next finished utterance into *utterance. Returns false if there is none yet.
  bool next(Utterance* utterance);

  // Returns the utterance that has begun and not ended; without samples if there is none.
  Utterance unfinished() const { return {begin_, speaks_ ? pending_ : std::vector<int16_t>()}; }

 private:
  void take_frame(const int16_t* samples);
  double noise() const;
  void cut(size_t n_frames, size_t n_kept);
  size_t quietest_frame() const;

  size_t frame_, max_frames_;
  bool at_pauses_;
  std::vector<int16_t> rest_;     // samples behind the last whole frame
  std::vector<int16_t> pending_;  // whole frames that no utterance has yet
  std::vector<double> energies_;  // of pending_, by frame
  std::deque<double> recent_;     // energies of the last seconds
  uint64_t begin_ = 0;            // of pending_ in the stream
  size_t quiet_frames_ = 0;       // since the last loud frame
  bool speaks_ = false;           // pending_ has a loud frame
  std::deque<Utterance> finished_;
};
