// SPDX-License-Identifier: Apache-2.0
// Finds speech, by a detector or by its energy, and cuts a stream of samples into utterances at pauses. Models write
// words into silence and noise, so a program that listens needs such a gate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>
#include "goldcrest/voice.h"

// A part of the stream.
struct Utterance {
  uint64_t begin = 0;  // its first sample, counted from the start of the stream
  std::vector<int16_t> samples = {};
  uint64_t speech_begin = 0, speech_end = 0;  // where a detector hears speech in it; else all of it

  uint64_t end() const { return begin + samples.size(); }
};

// Returns the share of samples at the loudest values. From kHardClipping on, loudness does not tell speech from pauses.
constexpr double kHardClipping = 0.25;
double clipped_share(const int16_t* samples, size_t n);

// Returns whether the samples have speech: some of them are loud, and these are much louder than the quiet ones.
// Silence, hum and steady noise have none.
bool has_speech(const int16_t* samples, size_t n, uint32_t sample_rate);

class UtteranceCutter {
 public:
  struct Options {
    uint32_t sample_rate;
    size_t max_samples;  // the most of an utterance. A longer one is cut where it is most quiet
    // Each utterance ends at the first pause, and what has no speech is left out. false: as late as max_samples allows,
    // and nothing is left out; with a detector, at the first long pause.
    bool at_pauses;
    goldcrest_voice* voice = nullptr;  // a detector whose stream begins; null: energy tells speech from pauses
    double pause = 0;                  // seconds of a pause; 0: 0.7, or 2 for a long one
  };
  explicit UtteranceCutter(const Options& options);

  // Takes the next samples of the stream.
  void push(const int16_t* samples, size_t n);

  // Call it after the last samples.
  void finish();

  // Moves the next finished utterance into *utterance. Returns false if there is none yet.
  bool next(Utterance* utterance);

  // Returns whether an utterance has begun and not ended.
  bool is_speaking() const { return speaks_; }

  // Returns the utterance that has begun and not ended; without samples if there is none.
  Utterance unfinished() const { return {begin_, speaks_ ? pending_ : std::vector<int16_t>()}; }
 private:
  void take_frame(const int16_t* samples);
  double noise() const;
  void cut(size_t n_frames, size_t n_gone);
  void end_utterance(size_t n_samples);
  size_t quietest_frame() const;

  bool is_speech(const int16_t* samples, double energy, double* loudness);
  void end_at_pause();

  goldcrest_voice* voice_;
  goldcrest_voice fresh_voice_;  // after much speech and silence the detector hears less than in a new stream
  bool at_pauses_;
  size_t frame_;                                        // samples
  size_t max_, before_, least_speech_, pause_, after_;  // frames: of an utterance, of quiet before its speech, ...
  size_t least_answer_, soon_;                          // frames: of speech in an answer, in which one may begin
  size_t span_;                                         // width of a place to cut
  std::vector<int16_t> rest_;                           // samples after the last whole frame
  std::vector<int16_t> pending_;                        // whole frames that no utterance has yet
  std::vector<double> loudness_;                        // pending_, by frame
  std::deque<double> recent_;                           // energies of the last seconds
  uint64_t begin_ = 0;                                  // where pending_ begins in the stream
  size_t speech_frames_ = 0;                            // in pending_
  size_t quiet_frames_ = 0;                             // since the last frame of speech
  size_t doubt_frames_ = 0;                             // since the last frame that surely is speech
  size_t since_utterance_;                              // frames after the last one ended
  size_t wait_frames_ = 0;                              // since the first frame of speech
  size_t said_frames_ = 0;                              // the same without a noise before it
  size_t sure_frames_ = 0;                              // frames that surely are speech
  double clearest_ = 0;                                 // the highest probability since the first frame of speech
  bool speaks_ = false;                                 // an utterance has begun
  std::deque<Utterance> finished_;
};
