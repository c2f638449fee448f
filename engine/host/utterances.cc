// SPDX-License-Identifier: Apache-2.0
#include "host/utterances.h"

#include <algorithm>
#include <utility>

namespace {

constexpr uint32_t kFramesPerSecond = 50;
constexpr double kLeastEnergy = 60.0 * 60.0;            // of a loud frame, a variance: -55 dB of full scale
constexpr double kClippedEnergy = 0.6 * 32768 * 32768;  // of a frame that is loud whatever the noise is
constexpr double kLoudOverNoise = 4.0;
constexpr double kSpeechOverPauses = 6.0;
constexpr size_t kFramesBefore = 15;   // before the first loud frame
constexpr size_t kPauseFrames = 35;    // that end an utterance
constexpr size_t kFramesAfter = 10;    // behind the last loud frame
constexpr size_t kRecentFrames = 250;  // that noise is estimated of

constexpr double kCrossingsOverPauses = 2.5;

// Returns the variance: a microphone's constant offset makes no sound.
double energy(const int16_t* samples, size_t n) {
  int64_t sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i) {
    sum += samples[i];
    squares += int64_t{samples[i]} * samples[i];
  }
  return static_cast<double>(static_cast<int64_t>(n) * squares - sum * sum) / static_cast<double>(n * n);
}

// Returns the value that this share of the values is below.
double quantile(std::vector<double> values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Returns how often the samples change their sign.
double crossings(const int16_t* samples, size_t n) {
  size_t n_found = 0;
  for (size_t i = 1; i < n; ++i) n_found += (samples[i] < 0) != (samples[i - 1] < 0) ? 1 : 0;
  return static_cast<double>(n_found);
}

// Clipping makes pauses as loud as speech, but leaves the signs: those of hum and noise change steadily.
bool has_clipped_speech(const std::vector<double>& signs, size_t frame) {
  const double least = static_cast<double>(frame) / 32;
  return quantile(signs, 0.95) >= kCrossingsOverPauses * std::max(least, quantile(signs, 0.05));
}

}  // namespace

double clipped_share(const int16_t* samples, size_t n) {
  const auto n_clipped = std::count_if(samples, samples + n, [](int x) { return x >= INT16_MAX || x <= -INT16_MAX; });
  return n == 0 ? 0 : static_cast<double>(n_clipped) / static_cast<double>(n);
}

bool has_speech(const int16_t* samples, size_t n, uint32_t sample_rate) {
  const size_t frame = sample_rate / kFramesPerSecond;
  std::vector<double> energies, signs;
  for (size_t i = 0; i + frame <= n; i += frame) {
    energies.push_back(energy(samples + i, frame));
    signs.push_back(crossings(samples + i, frame));
  }
  if (energies.empty()) return false;
  const double loud = quantile(energies, 0.95);
  if (loud >= kLeastEnergy && loud >= kSpeechOverPauses * quantile(energies, 0.05)) return true;
  return clipped_share(samples, n) >= kHardClipping && has_clipped_speech(signs, frame);
}

UtteranceCutter::UtteranceCutter(uint32_t sample_rate, size_t max_samples, bool at_pauses)
    : frame_(std::max(1u, sample_rate / kFramesPerSecond)),
      max_frames_(std::max<size_t>(1, max_samples / frame_)),
      at_pauses_(at_pauses) {}

void UtteranceCutter::push(const int16_t* samples, size_t n) {
  rest_.insert(rest_.end(), samples, samples + n);
  size_t used = 0;
  for (; used + frame_ <= rest_.size(); used += frame_) take_frame(rest_.data() + used);
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
}

double UtteranceCutter::noise() const { return quantile({recent_.begin(), recent_.end()}, 0.1); }

void UtteranceCutter::take_frame(const int16_t* samples) {
  const double value = energy(samples, frame_);
  pending_.insert(pending_.end(), samples, samples + frame_);
  energies_.push_back(value);
  recent_.push_back(value);
  if (recent_.size() > kRecentFrames) recent_.pop_front();
  const bool is_loud = value >= std::clamp(kLoudOverNoise * noise(), kLeastEnergy, kClippedEnergy);
  quiet_frames_ = is_loud ? 0 : quiet_frames_ + 1;
  speaks_ = speaks_ || is_loud;
  const size_t n = energies_.size();
  if (at_pauses_ && speaks_ && quiet_frames_ >= kPauseFrames) {
    cut(n - quiet_frames_ + std::min(quiet_frames_, kFramesAfter), n);
  } else if (at_pauses_ && !speaks_ && n > kFramesBefore) {
    cut(0, n - kFramesBefore);
  } else if (n >= max_frames_) {
    const size_t at = quietest_frame();
    cut(at, at);
  }
}

// Returns the frame of the last half before which to cut: the middle of the quietest fifth of a second.
size_t UtteranceCutter::quietest_frame() const {
  constexpr size_t kSpan = kFramesPerSecond / 5;
  const size_t n = energies_.size();
  size_t best = n;
  double least = 0;
  for (size_t i = n / 2; i + kSpan <= n; ++i) {
    double sum = 0;
    for (size_t j = 0; j < kSpan; ++j) sum += energies_[i + j];
    if (best == n || sum < least) {
      least = sum;
      best = i + kSpan / 2;
    }
  }
  return best;
}

// Ends an utterance of n_frames (0: none), and forgets n_gone frames.
void UtteranceCutter::cut(size_t n_frames, size_t n_gone) {
  const auto at = [](std::vector<int16_t>& samples, size_t i) {
    return samples.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (n_frames > 0) finished_.push_back({begin_, {pending_.begin(), at(pending_, n_frames * frame_)}});
  pending_.erase(pending_.begin(), at(pending_, n_gone * frame_));
  energies_.erase(energies_.begin(), energies_.begin() + static_cast<std::ptrdiff_t>(n_gone));
  begin_ += n_gone * frame_;
  speaks_ = speaks_ && !energies_.empty();  // after a cut at the most samples, speech goes on
}

void UtteranceCutter::finish() {
  if (!at_pauses_ || speaks_) {
    pending_.insert(pending_.end(), rest_.begin(), rest_.end());
    if (!pending_.empty()) finished_.push_back({begin_, std::move(pending_)});
  }
  pending_.clear();
  energies_.clear();
  rest_.clear();
  speaks_ = false;
}

bool UtteranceCutter::next(Utterance* utterance) {
  if (finished_.empty()) return false;
  *utterance = std::move(finished_.front());
  finished_.pop_front();
  return true;
}
