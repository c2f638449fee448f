// SPDX-License-Identifier: Apache-2.0
#include "host/speech/recordings.h"
#include <algorithm>
#include "host/messages.h"

namespace goldcrest::host {
namespace {
// Hears the utterances that are finished.
std::string hear_finished(const Hearing& hearing, const Transcriber& transcriber, UtteranceCutter* cutter) {
  const bool is_last = is_interrupted();  // an interrupt that comes later stops the search and leaves out the rest
  const bool has_gate = hearing.has_gate && hearing.voice == nullptr;
  for (Utterance utterance; (is_last || !is_interrupted()) && cutter->next(&utterance);) {
    const std::vector<int16_t>& samples = utterance.samples;
    if (samples.size() < transcriber.min_samples()) continue;
    if (has_gate && !has_speech(samples.data(), samples.size(), transcriber.sample_rate())) continue;
    Transcription made;
    const std::string problem = hearing.hear(utterance, Purpose::kUtterance, &made);
    if (!problem.empty()) return problem;
  }
  return "";
}

std::string hear_utterances(const Hearing& hearing, const Transcriber& transcriber, uint64_t* n_samples) {
  const uint32_t rate = transcriber.sample_rate();
  UtteranceCutter cutter({rate, transcriber.max_samples(), hearing.at_pauses, hearing.voice});
  std::vector<int16_t> block(rate / 10);
  std::string problem;
  for (bool more = true; more && problem.empty();) {
    const size_t n = hearing.read(block.data(), block.size());
    more = n == block.size() && !is_interrupted();
    *n_samples += n;
    cutter.push(block.data(), n);
    if (!more) cutter.finish();
    problem = hear_finished(hearing, transcriber, &cutter);
    more = more && !is_interrupted();
    if (hearing.look && more && problem.empty()) problem = hearing.look(cutter);
  }
  return problem;
}

// The model hears as much as it takes, cuts it into segments, and hears on where the last of them ended.
std::string hear_windows(const Hearing& hearing, const Transcriber& transcriber, uint64_t* n_samples) {
  Utterance window;
  std::vector<int16_t>& samples = window.samples;
  for (bool more = true; !is_interrupted();) {
    const size_t n_kept = samples.size(), n_wanted = transcriber.max_samples() - n_kept;
    samples.resize(n_kept + n_wanted);
    const size_t n = more ? hearing.read(samples.data() + n_kept, n_wanted) : 0;
    samples.resize(n_kept + n);
    *n_samples += n;
    more = n == n_wanted;
    if (samples.size() < transcriber.min_samples()) break;
    Transcription made;
    made.n_heard = samples.size();
    window.speech_begin = window.begin;
    window.speech_end = window.end();
    std::string problem;
    if (!hearing.has_gate || has_speech(samples.data(), samples.size(), transcriber.sample_rate()))
      problem = hearing.hear(window, Purpose::kWindow, &made);
    if (!problem.empty()) return problem;
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(made.n_heard));
    window.begin += made.n_heard;
  }
  return "";
}
}  // namespace

std::string hear_recording(const Hearing& hearing, const Transcriber& transcriber, uint64_t* n_samples) {
  *n_samples = 0;
  const bool in_windows = hearing.takes_windows && transcriber.has_timestamps() && hearing.voice == nullptr;
  return (in_windows ? hear_windows : hear_utterances)(hearing, transcriber, n_samples);
}

Segment placed(const Segment& segment, const Utterance& part, double begin, uint32_t sample_rate) {
  const auto seconds = [&](uint64_t sample) { return begin + static_cast<double>(sample) / sample_rate; };
  const double offset = seconds(part.begin), first = seconds(part.speech_begin), last = seconds(part.speech_end);
  const auto place = [&](double time, double least) { return std::clamp(offset + time, least, std::max(least, last)); };
  Segment shown = segment;
  shown.begin = place(segment.begin, first);
  shown.end = place(segment.end, shown.begin);
  for (TimedWord& word : shown.words) {
    word.begin = place(word.begin, first);
    word.end = place(word.end, word.begin);
  }
  return shown;
}
}  // namespace goldcrest::host
