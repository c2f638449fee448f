// SPDX-License-Identifier: Apache-2.0
// goldcrest-transcribe turns speech into text.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "host/messages.h"
#include "host/speech/utterances.h"
#include "host/speech/wav.h"
#include "options.h"
#include "transcriber.h"
#include "transcript.h"

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

using goldcrest::host::WavReader;

// An ffmpeg that converts a clip, and what it writes.
class Ffmpeg {
 public:
  // Starts it for a file; an empty name is standard input, read from its begin. Returns the reason of a failure, or "".
  std::string start(const std::string& name, uint32_t sample_rate) {
    if (name.empty() && lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
      return "--ffmpeg: a pipe cannot be read from its begin again; put ffmpeg in front of it, or give a file's name";
    std::vector<std::string> arguments = goldcrest::host::ffmpeg_arguments(name, "", sample_rate);
    arguments.insert(arguments.begin() + 1, {"-v", "error"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::string("--ffmpeg: no pipe: ") + std::strerror(errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!name.empty()) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const int error = posix_spawnp(&child_, "ffmpeg", &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_.reset(fdopen(ends[0], "rb"));
    if (error == 0) return "";
    child_ = -1;
    return std::string("--ffmpeg: ffmpeg cannot be started: ") + std::strerror(error) +
           "; install the package ffmpeg, or convert the clip elsewhere";
  }

  std::FILE* output() const { return output_.get(); }

  // Ends it. Returns what it failed with, or "".
  std::string finish() {
    if (child_ < 0) return "";
    output_.reset();
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0) return "";
    const bool has_exited = WIFEXITED(status);
    return std::string("--ffmpeg: ffmpeg ended with ") + (has_exited ? "status " : "signal ") +
           std::to_string(has_exited ? WEXITSTATUS(status) : WTERMSIG(status));
  }

 private:
  pid_t child_ = -1;
  std::unique_ptr<std::FILE, CloseFile> output_;
};

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
      if (file) {
        hear_file(file.get(), clip, &transcript);
      } else {
        refuse(clip, std::string("cannot be read: ") + std::strerror(errno));
      }
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
    detects_ = !arguments_.no_gate && !arguments_.no_voice && transcriber_.begin_voice(&voice_);
    uint64_t n_samples = 0;
    const bool hears_windows =
        transcriber_.has_timestamps() && !detects_ && !name.empty() && arguments_.phrases.empty();
    std::string problem = hears_windows ? hear_windows(reader, name, transcript, &n_samples)
                                        : hear_utterances(reader, name, transcript, &n_samples);
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

  std::string hear_utterances(WavReader* reader, const std::string& name, Transcript* transcript, uint64_t* n_samples) {
    const uint32_t rate = transcriber_.sample_rate();
    const bool at_pauses = name.empty() || arguments_.format != Format::kText || arguments_.words;
    UtteranceCutter cutter({rate, transcriber_.max_samples(), at_pauses, detects_ ? &voice_ : nullptr});
    std::vector<int16_t> block(rate / 10);
    std::string problem;
    Preview preview(!arguments_.no_gate && !detects_);
    for (bool more = true; more && problem.empty();) {
      const size_t n = reader->read(block.data(), block.size());
      more = n == block.size() && !is_interrupted();
      *n_samples += n;
      cutter.push(block.data(), n);
      if (!more) cutter.finish();
      problem = hear_finished(&cutter, name, transcript);
      more = more && !is_interrupted();
      if (arguments_.live && more && problem.empty()) problem = preview.update(cutter, &transcriber_, transcript);
    }
    return problem;
  }

  // The model hears as much as it takes, cuts it into segments, and hears on where the last of them ended.
  std::string hear_windows(WavReader* reader, const std::string& name, Transcript* transcript, uint64_t* n_samples) {
    Utterance window;
    std::vector<int16_t>& samples = window.samples;
    for (bool more = true; !is_interrupted();) {
      const size_t n_kept = samples.size(), n_wanted = transcriber_.max_samples() - n_kept;
      samples.resize(n_kept + n_wanted);
      const size_t n = more ? reader->read(samples.data() + n_kept, n_wanted) : 0;
      samples.resize(n_kept + n);
      *n_samples += n;
      more = n == n_wanted;
      if (samples.size() < transcriber_.min_samples()) break;
      Transcription made;
      made.n_heard = samples.size();
      window.speech_begin = window.begin;
      window.speech_end = window.end();
      std::string problem;
      if (arguments_.no_gate || has_speech(samples.data(), samples.size(), transcriber_.sample_rate()))
        problem = hear_part(window, Purpose::kWindow, name, transcript, &made);
      if (!problem.empty()) return problem;
      samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(made.n_heard));
      window.begin += made.n_heard;
    }
    return "";
  }

  std::string hear_finished(UtteranceCutter* cutter, const std::string& name, Transcript* transcript) {
    const bool is_last = is_interrupted();  // an interrupt that comes later stops the search and leaves out the rest
    for (Utterance utterance; (is_last || !is_interrupted()) && cutter->next(&utterance);) {
      const std::vector<int16_t>& samples = utterance.samples;
      if (samples.size() < transcriber_.min_samples()) continue;
      if (!arguments_.no_gate && !detects_ && !has_speech(samples.data(), samples.size(), transcriber_.sample_rate()))
        continue;
      Transcription made;
      const std::string problem = hear_part(utterance, Purpose::kUtterance, name, transcript, &made);
      if (!problem.empty()) return problem;
    }
    return "";
  }

  std::string hear_part(const Utterance& part, Purpose purpose, const std::string& name, Transcript* transcript,
                        Transcription* made) {
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
                 "%s: %s: warning: %.0f %% of the samples are clipped, so words may be wrong; record it less loud\n",
                 kProgram, name.empty() ? "standard input" : name.c_str(), 100 * share);
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
  bool detects_ = false;  // voice_ tells the clip's speech from other sound
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
