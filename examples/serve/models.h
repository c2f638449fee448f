// SPDX-License-Identifier: Apache-2.0
// The models of the server. A model has an engine, and a thread that does the engine's work in the order of requests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>
#include "host/session.h"
#include "host/speech/recordings.h"
#include "host/speech/transcriber.h"
#include "loop.h"
#include "serve.h"

class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker();
  // Does a job after the earlier ones. Returns false if too many wait.
  bool add(std::function<void()> job);
 private:
  static constexpr size_t kMostJobs = 512;
  void run();

  std::mutex mutex_;
  std::condition_variable has_job_;
  std::deque<std::function<void()>> jobs_;
  bool is_over_ = false;
  std::thread thread_;  // the last member, which uses the others
};

// A problem, or "": whose fault it is.
struct Problem {
  std::string text = {};
  bool is_clients = false;

  explicit operator bool() const { return !text.empty(); }
};

// The text of a recording.
struct Heard {
  Problem problem = {};
  bool is_unknown_format = false;  // the recording's
  std::string text = {};
  std::string language = {};
  double seconds = 0;  // the sound's
  struct Part {
    Segment segment;          // in seconds of the recording
    double earliest, latest;  // so that its subtitles may be shown
    double avg_logprob, no_speech, temperature;
  };
  std::vector<Part> parts = {};
};

// Turns speech into text. The functions that are not const run in the thread of its worker.
class SpeechModel {
 public:
  // Returns why the file cannot be used, or "".
  std::string start(const std::string& name, const std::string& path, const ServeArguments& arguments);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& languages() const { return languages_; }
  bool has_language(const std::string& language) const;
  bool translates() const { return translates_; }  // into English
  bool has_voice() const { return has_voice_; }
  const Transcriber& transcriber() const { return *transcriber_; }

  // Hears the samples of a command, or an utterance that a detector has cut.
  Heard hear(const std::vector<int16_t>& samples, TextRequest request);
  Heard hear_utterance(std::vector<int16_t> samples, TextRequest request);
  // Hears a file of sound; `add` gets each part of the text as soon as it is known.
  struct File {
    std::FILE* file;
    bool has_ffmpeg, at_pauses;
    std::function<void(const std::string& text)> add;
  };
  Heard hear_file(const File& file, TextRequest request);

  Worker& worker() { return worker_; }
 private:
  std::string set(TextRequest request, Heard* heard);
  std::string hear_all(goldcrest::host::Hearing hearing, TextRequest request,
      const std::function<void(const std::string&)>& add, Heard* heard);
  std::string hear_part(const Utterance& part, Purpose purpose, Transcription* made, Heard* heard);

  std::string name_;
  std::vector<std::string> languages_;
  bool has_voice_ = false, is_multilingual_ = false, translates_ = false;
  std::unique_ptr<Transcriber> transcriber_;
  goldcrest_voice voice_ = {};
  Worker worker_;
};

// Translates texts between the languages of a file.
class TextModel {
 public:
  std::string start(const std::string& name, const std::string& path, const ServeArguments& arguments);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& sources() const { return sources_; }
  const std::vector<std::string>& targets() const { return targets_; }

  // Replaces texts by their translations. Returns why it cannot.
  Problem translate(
      const std::string& source, const std::string& target, bool is_html, std::vector<std::string>* texts);

  Worker& worker() { return worker_; }
 private:
  struct Text;
  void read(size_t index, Text* text);
  Problem search(std::vector<Text>* texts);

  std::string name_, path_;
  std::vector<std::string> sources_, targets_;  // codes
  bool has_sources_ = false, has_targets_ = false, splits_ = false;
  std::string abbreviations_;
  goldcrest::Session session_;
  goldcrest_search search_ = {};
  Worker worker_;
};

// Returns the model of this name that hears a language, or the first that does; null if there is none.
SpeechModel* choose_speech(const Service& service, const std::string& name, const SpeechTask& task);

// Finds the code of a list that means a language: the same, or without a region ("en-US").
std::string matching_language(const std::string& language, const std::vector<std::string>& codes);

// Lets a worker do a job for a client. `done` then gets its result in the loop, unless the client has gone or the
// server ends. Returns false if too many jobs wait.
template <typename Result>
bool work_for(
    Connection& client, Worker& worker, std::function<Result()> job, std::function<void(Connection&, Result&)> done) {
  Loop* const loop = &client.loop();
  const std::weak_ptr<Connection> weak = client.weak_from_this();
  return worker.add([=] {
    if (weak.expired()) return;
    const auto result = std::make_shared<std::optional<Result>>();
    std::string problem = loop->is_stopping() ? "the server ends" : "";
    try {
      if (problem.empty()) result->emplace(job());
    } catch (const std::exception& error) {
      problem = error.what();
    }
    loop->post([=] {
      const std::shared_ptr<Connection> it = weak.lock();
      if (!it || it->is_finishing()) return;
      if (*result) done(*it, **result);
      else it->protocol().refuse(*it, problem);
    });
  });
}
