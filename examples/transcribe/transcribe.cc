// SPDX-License-Identifier: Apache-2.0
// goldcrest-transcribe turns speech into text.
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include "host/messages.h"
#include "host/speech/ffmpeg.h"
#include "host/speech/recordings.h"
#include "host/speech/transcriber.h"
#include "host/speech/utterances.h"
#include "host/speech/wav.h"
#include "options.h"
#include "transcript.h"

namespace {
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using goldcrest::host::Ffmpeg;
using goldcrest::host::WavReader;

// The text of an utterance that goes on.
class Preview {
 public:
  explicit Preview(bool gate) : gate_(gate) {}

  // Runs over what the utterance has so far, if it has enough new sound. Returns the reason of a failure, or "".
  std::string update(const UtteranceCutter& cutter, Transcriber* transcriber, Transcript* transcript) {
    const uint32_t rate = transcriber->sample_rate();
    const Utterance utterance = cutter.unfinished();
    const std::vector<int16_t>& samples = utterance.samples;
    if (samples.empty() || utterance.begin != begin_) {
      begin_ = utterance.begin;
      wanted_ = 0;
      heard_.clear();
      shown_.clear();
    }
    if (samples.size() < std::max<size_t>({1, wanted_, transcriber->min_samples()})) return "";
    if (gate_ && !has_speech(samples.data(), samples.size(), rate)) return "";
    const double before = transcriber->seconds();
    Transcription made;
    const std::string problem = transcriber->transcribe(samples, Purpose::kPartial, &made);
    const std::string& text = made.text;
    // Sound that came while the model ran is twice that long before the next run.
    const double pause = std::max(kPreviewSeconds, 2 * (transcriber->seconds() - before));
    wanted_ = samples.size() + static_cast<size_t>(pause * rate);
    const std::string agreed = agreed_words(heard_, text);
    heard_ = text;
    if (problem.empty() && agreed != shown_) {
      shown_ = agreed;
      transcript->show_partial(begin_, agreed);
    }
    return problem;
  }
 private:
  static constexpr double kPreviewSeconds = 0.5;

  bool gate_;  // by loudness; a detector tells the cutter what is speech
  uint64_t begin_ = 0;
  size_t wanted_ = 0;          // samples before the next run
  std::string heard_, shown_;  // the last run's text; what is printed of it
};

// The work of the program after its options.
class Program {
 public:
  explicit Program(const TranscribeArguments& arguments) : arguments_(arguments), transcriber_(arguments) {}

  ExitStatus run() {
    const std::string problem = transcriber_.start();
    if (!problem.empty()) return refuse(arguments_.model, problem);
    const std::string warning = transcriber_.warning();
    if (!warning.empty())
      std::fprintf(stderr, "%s: %s: warning: %s\n", kProgram, arguments_.model.c_str(), warning.c_str());
    stop_at_interrupt();
    const bool rewrites = arguments_.live && isatty(STDOUT_FILENO) != 0;
    Transcript transcript(arguments_, transcriber_.sample_rate(), rewrites);
    if (arguments_.clips.empty())
      goldcrest::say_waiting(kProgram, "sound: a WAV file or samples, as arecord writes them");
    if (arguments_.clips.empty()) hear_file(stdin, "", &transcript);
    for (const std::string& clip : arguments_.clips) {
      if (is_interrupted()) break;
      const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(clip.c_str(), "rb"));
      if (file) hear_file(file.get(), clip, &transcript);
      else refuse(clip, std::string("cannot be read: ") + std::strerror(errno));
    }
    if (arguments_.stats) print_stats();
    const bool is_printed = finish_output(kProgram);
    if (is_interrupted()) std::raise(SIGINT);  // its action is the default again, as callers expect
    if (!is_printed) return kFailed;
    return n_failed_ == 0 ? kSuccess : kClipsFailed;
  }
 private:
  ExitStatus refuse(const std::string& name, const std::string& problem) {
    const std::string message =
        std::string(kProgram) + ": " + (name.empty() ? "standard input" : name) + ": " + problem;
    std::fprintf(stderr, "%s\n", goldcrest::painted(goldcrest::Paint::kRed, message).c_str());
    ++n_failed_;
    return kFailed;
  }

  // Prints the text of a clip; an empty name is standard input.
  void hear_file(std::FILE* file, const std::string& name, Transcript* transcript) {
    WavReader reader;
    Ffmpeg ffmpeg;
    std::string problem = reader.open(file, name, transcriber_.sample_rate());
    if (!problem.empty() && arguments_.ffmpeg) {
      problem = ffmpeg.start(name, transcriber_.sample_rate());
      if (problem.empty()) problem = reader.open(ffmpeg.output(), name, transcriber_.sample_rate());
    }
    if (problem.empty()) problem = hear(&reader, name, transcript);
    const std::string failure = ffmpeg.finish();
    if (!failure.empty() && !is_interrupted()) problem = failure;
    if (!problem.empty()) refuse(name, problem);
  }

  std::string hear(WavReader* reader, const std::string& name, Transcript* transcript) {
    const bool detects = !arguments_.no_gate && !arguments_.no_voice && transcriber_.begin_voice(&voice_);
    Preview preview(!arguments_.no_gate && !detects);
    goldcrest::host::Hearing hearing;
    hearing.read = [reader](int16_t* samples, size_t n) { return reader->read(samples, n); };
    hearing.has_gate = !arguments_.no_gate;
    hearing.at_pauses = name.empty() || arguments_.format != Format::kText || arguments_.words;
    hearing.takes_windows = !name.empty() && arguments_.phrases.empty();
    hearing.voice = detects ? &voice_ : nullptr;
    hearing.hear = [&](const Utterance& part, Purpose purpose, Transcription* made) {
      return hear_part({part, purpose, name}, transcript, made);
    };
    if (arguments_.live)
      hearing.look = [&](const UtteranceCutter& cutter) { return preview.update(cutter, &transcriber_, transcript); };
    uint64_t n_samples = 0;
    std::string problem = hear_recording(hearing, transcriber_, &n_samples);
    samples_ += n_samples;
    transcript->end_clip(name, n_samples);
    if (is_interrupted()) return problem.empty() && !name.empty() ? "interrupted; the rest is missing" : problem;
    if (problem.empty()) problem = reader->problem();
    if (problem.empty() && !name.empty() && n_samples > 0 && n_samples < transcriber_.min_samples()) {
      problem = "has " + std::to_string(n_samples) + " samples; the model hears nothing in fewer than " +
                std::to_string(transcriber_.min_samples());
    }
    return problem;
  }

  struct Part {
    const Utterance& utterance;
    Purpose purpose;
    const std::string& clip;
  };
  std::string hear_part(const Part& it, Transcript* transcript, Transcription* made) {
    const auto& [part, purpose, name] = it;
    warn_of_clipping(part.samples, name);
    const std::string problem = transcriber_.transcribe(part.samples, purpose, made);
    const bool is_silent = made->segments.empty();
    if (!problem.empty() || is_silent || (made->uncertain && arguments_.drop_uncertain)) return problem;
    warn_of_cut(part, name, made->cut);
    transcript->add(name, part, *made);
    return "";
  }

  void warn_of_clipping(const std::vector<int16_t>& samples, const std::string& name) const {
    const double share = clipped_share(samples.data(), samples.size());
    if (share < kHardClipping) return;
    std::fprintf(stderr,
        "%s: %s: warning: %.0f %% of the samples are clipped, so words may be wrong; record it less loud\n", kProgram,
        name.empty() ? "standard input" : name.c_str(), 100 * share);
  }

  void warn_of_cut(const Utterance& utterance, const std::string& name, const std::string& cut) const {
    if (cut.empty()) return;
    const double rate = transcriber_.sample_rate(), begin = static_cast<double>(utterance.begin) / rate;
    std::fprintf(stderr, "%s: %s: warning: the text of %.2f to %.2f s ends too early: %s\n", kProgram,
        name.empty() ? "standard input" : name.c_str(), begin,
        begin + static_cast<double>(utterance.samples.size()) / rate, cut.c_str());
  }

  void print_stats() const {
    const double heard = static_cast<double>(samples_) / transcriber_.sample_rate();
    std::fprintf(stderr, "%s: %.1f s of sound in %.3f s", kProgram, heard, transcriber_.seconds());
    if (heard > 0) std::fprintf(stderr, " (real-time factor %.3f)", transcriber_.seconds() / heard);
    std::fprintf(stderr, ", arena %llu bytes\n", static_cast<unsigned long long>(transcriber_.arena_bytes()));
  }

  const TranscribeArguments& arguments_;
  Transcriber transcriber_;
  goldcrest_voice voice_ = {};
  uint64_t samples_ = 0;
  size_t n_failed_ = 0;
};
}  // namespace

int main(int argc, char** argv) {
  TranscribeArguments arguments;
  if (const std::optional<ExitStatus> status = parse_options(argc, argv, arguments)) return *status;
  try {
    return Program(arguments).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kProgram, describe_exception(error, arguments.model).c_str());
    return kFailed;
  }
}
