// SPDX-License-Identifier: Apache-2.0
#include "host/speech/utterances.h"
#include <algorithm>
#include <utility>

namespace {
constexpr uint32_t kFramesPerSecond = 50;
constexpr double kLeastEnergy = 60.0 * 60.0;            // variance of a loud frame: -55 dB of full scale
constexpr double kClippedEnergy = 0.6 * 32768 * 32768;  // a frame with more is loud whatever the noise is
constexpr double kLoudOverNoise = 4.0;
constexpr double kSpeechOverPauses = 6.0;
constexpr size_t kRecentFrames = 250;    // noise is estimated from these
constexpr double kSurelySpeech = 0.5;    // a detector's probability of frames between which speech is
constexpr double kLikelySpeech = 0.3;    // a detector's probability with which speech begins
constexpr double kClearSpeech = 0.8;     // or 0.2 s of the above: single tones of music stay below both
constexpr double kClearAnswer = 0.6;     // the same soon after an utterance: people who have spoken speak again
constexpr double kPerhapsSpeech = 0.15;  // it goes on down to this one

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

// Energy changes at once; a detector's answer comes a little later, and stays.
UtteranceCutter::UtteranceCutter(const Options& options)
    : voice_(options.voice),
      fresh_voice_(voice_ != nullptr ? *voice_ : goldcrest_voice{}),
      at_pauses_(options.at_pauses || options.voice != nullptr),
      frame_(voice_ != nullptr ? GOLDCREST_VOICE_SAMPLES : std::max(1u, options.sample_rate / kFramesPerSecond)) {
  const double each = static_cast<double>(frame_) / options.sample_rate;
  const auto frames = [each](double seconds) { return static_cast<size_t>(seconds / each + 0.5); };
  max_ = std::max<size_t>(1, options.max_samples / frame_);
  before_ = frames(voice_ != nullptr ? 0.5 : 0.3);
  least_speech_ = voice_ != nullptr ? frames(0.32) : 1;
  least_answer_ = voice_ != nullptr ? frames(0.16) : 1;
  soon_ = since_utterance_ = frames(5);
  pause_ = frames(options.pause > 0 ? options.pause : options.at_pauses ? 0.7 : 2.0);
  after_ = frames(voice_ != nullptr ? 0.4 : 0.2);
  span_ = frames(0.2);
}

void UtteranceCutter::push(const int16_t* samples, size_t n) {
  rest_.insert(rest_.end(), samples, samples + n);
  size_t used = 0;
  for (; used + frame_ <= rest_.size(); used += frame_) take_frame(rest_.data() + used);
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
}

double UtteranceCutter::noise() const { return quantile({recent_.begin(), recent_.end()}, 0.1); }

// *loudness <- how much there is to lose by a cut in this frame.
bool UtteranceCutter::is_speech(const int16_t* samples, double energy, double* loudness) {
  *loudness = energy;
  if (voice_ == nullptr) return energy >= std::clamp(kLoudOverNoise * noise(), kLeastEnergy, kClippedEnergy);
  const double probability = static_cast<double>(goldcrest_voice_probability(voice_, samples));
  *loudness *= probability;
  doubt_frames_ = probability >= kSurelySpeech ? 0 : doubt_frames_ + 1;
  if (doubt_frames_ == 0) ++sure_frames_;
  clearest_ = std::max(clearest_, probability);
  // The detector takes near silence for speech.
  const bool goes_on = speech_frames_ > 0 && quiet_frames_ == 0;
  return probability >= (goes_on ? kPerhapsSpeech : kLikelySpeech) && energy >= kLeastEnergy;
}

void UtteranceCutter::take_frame(const int16_t* samples) {
  const double value = energy(samples, frame_);
  recent_.push_back(value);
  if (recent_.size() > kRecentFrames) recent_.pop_front();
  pending_.insert(pending_.end(), samples, samples + frame_);
  // A noise that the detector doubts falls silent before the words; a word that it doubts goes on as loud.
  const bool was_clear = 2 * sure_frames_ >= least_answer_ && (clearest_ >= kClearSpeech || sure_frames_ >= span_);
  const auto pause = recent_.end() - static_cast<std::ptrdiff_t>(std::min(quiet_frames_ + 1, recent_.size()));
  const bool had_pause = quiet_frames_ >= least_answer_ && *std::min_element(pause, recent_.end()) < value;
  const bool speech = is_speech(samples, value, &loudness_.emplace_back());
  if (speech) ++speech_frames_;
  quiet_frames_ = speech ? 0 : quiet_frames_ + 1;
  wait_frames_ = speech_frames_ > 0 ? wait_frames_ + 1 : 0;
  said_frames_ = speech && had_pause && !was_clear ? 1 : std::min(said_frames_ + 1, wait_frames_);
  if (speech_frames_ == 0) sure_frames_ = 0, clearest_ = voice_ == nullptr ? 1 : 0;
  const bool answers = ++since_utterance_ < soon_;
  const bool is_clear = clearest_ >= (answers ? kClearAnswer : kClearSpeech) || sure_frames_ >= span_;
  speaks_ = speaks_ || (is_clear && speech_frames_ >= (answers ? least_answer_ : least_speech_));
  if (at_pauses_) end_at_pause();
  if (loudness_.size() >= max_) {
    const size_t at = quietest_frame();
    cut(speaks_ || !at_pauses_ ? at : 0, at);
  }
}

// Ends an utterance at a pause that is long enough, and forgets what comes before one.
void UtteranceCutter::end_at_pause() {
  const size_t n = loudness_.size();
  if (speaks_) {
    if (quiet_frames_ < pause_) return;
    cut(n - quiet_frames_ + std::min(quiet_frames_, after_), n);
    if (voice_ != nullptr) *voice_ = fresh_voice_;
    since_utterance_ = 0;
    return;
  }
  if (quiet_frames_ >= before_) speech_frames_ = wait_frames_ = 0;  // it was a noise
  const size_t kept = before_ + wait_frames_;
  if (n > kept) cut(0, n - kept);
}

// Returns the frame of the last half before which to cut: the middle of the quietest fifth of a second.
size_t UtteranceCutter::quietest_frame() const {
  const size_t n = loudness_.size();
  size_t best = n;
  double least = 0;
  for (size_t i = n / 2; i + span_ <= n; ++i) {
    double sum = 0;
    for (size_t j = 0; j < span_; ++j) sum += loudness_[i + j];
    if (best == n || sum < least) {
      least = sum;
      best = i + span_ / 2;
    }
  }
  return best;
}

// Ends an utterance of n_frames (0: none), and forgets n_gone frames.
void UtteranceCutter::cut(size_t n_frames, size_t n_gone) {
  const auto at = [](std::vector<int16_t>& samples, size_t i) {
    return samples.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (n_frames > 0) end_utterance(n_frames * frame_);
  pending_.erase(pending_.begin(), at(pending_, n_gone * frame_));
  loudness_.erase(loudness_.begin(), loudness_.begin() + static_cast<std::ptrdiff_t>(n_gone));
  begin_ += n_gone * frame_;
  speaks_ = speaks_ && !loudness_.empty();  // after a cut at the most samples, speech goes on
  if (n_frames == 0) return;
  wait_frames_ = speaks_ ? loudness_.size() : 0;
  speech_frames_ = wait_frames_;
}

// The first samples that wait are an utterance.
void UtteranceCutter::end_utterance(size_t n_samples) {
  Utterance& utterance = finished_.emplace_back();
  utterance.begin = begin_;
  utterance.samples.assign(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(n_samples));
  utterance.speech_begin = begin_;
  utterance.speech_end = utterance.end();
  if (voice_ == nullptr) return;
  const size_t n = loudness_.size();
  utterance.speech_begin += (n - std::min(n, said_frames_ + 1)) * frame_;  // the detector hears words a step late
  const uint64_t last = begin_ + (n - std::min(n, doubt_frames_)) * frame_;
  if (last > utterance.speech_begin) utterance.speech_end = std::min(last, utterance.speech_end);
}

void UtteranceCutter::finish() {
  if (!at_pauses_ || speaks_) {
    pending_.insert(pending_.end(), rest_.begin(), rest_.end());
    if (voice_ != nullptr && quiet_frames_ > after_)
      pending_.resize((loudness_.size() - quiet_frames_ + after_) * frame_);
    if (!pending_.empty()) end_utterance(pending_.size());
  }
  pending_.clear();
  loudness_.clear();
  rest_.clear();
  speaks_ = false;
  speech_frames_ = wait_frames_ = 0;
}

bool UtteranceCutter::next(Utterance* utterance) {
  if (finished_.empty()) return false;
  *utterance = std::move(finished_.front());
  finished_.pop_front();
  return true;
}
