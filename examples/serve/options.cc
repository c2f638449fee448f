// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include "host/command_line.h"
#include "host/messages.h"
#include "host/text_lines.h"
#include "loop.h"
#include "serve.h"

using goldcrest::flag;
using goldcrest::number;
using goldcrest::text;

namespace {
goldcrest::Reader more_texts(std::vector<std::string>& values) {
  const auto read = [&values](const std::string& word) {
    values.push_back(word);
    return std::string();
  };
  return {read, {}, true};
}

std::vector<goldcrest::Option> rows_of(ServeArguments& a) {
  return {
      {"Models"},
      {"*--model FILE", more_texts(a.models),
          "serve this model of speech or of texts: [NAME=]FILE, a file that goldcrest-convert wrote; it may be given "
          "several times [the name: the file's, without its end]"},
      {"*--language CODE", text(a.language), "take this language for speech models whose files state none [en]"},
      {"--max-seconds SECONDS", number(a.max_seconds, 0.1, 600.0),
          "let a speech model hear at most this much at once: less takes less memory [the model's]"},
      {"Doors"},
      {"*--wyoming ADDRESS", text(a.wyoming),
          "serve Home Assistant's protocol at tcp://HOST:PORT or unix://PATH, or one client at stdio://. Only this "
          "machine reaches 127.0.0.1; 0.0.0.0 is every network, and the protocol has no keys"},
      {"--add-on", flag(a.is_add_on),
          "be Home Assistant's add-on: take options from /data/options.json, serve --wyoming tcp://0.0.0.0:10300, and "
          "tell the Supervisor so"},
      {"*--http ADDRESS", text(a.http), "serve OpenAI's and LibreTranslate's APIs at HOST:PORT or unix://PATH"},
      {"*--api-key-file FILE", text(a.key_file),
          "answer only requests with a key of this file, one a line; needed where others than this machine reach "
          "--http"},
      {"--allow-origin ORIGIN", more_texts(a.allowed_origins),
          "answer pages of this origin, such as https://example.org, or of all with *; it may be given several times"},
      {"*--ffmpeg", flag(a.has_ffmpeg), "let ffmpeg convert uploads that are no WAV files: mp3, m4a, webm, ogg, flac"},
      {"Limits"},
      {"--max-upload BYTES", number(a.max_upload, uint64_t{1} << 10, uint64_t{1} << 40),
          "refuse larger uploads of sound [104857600]"},
      {"--max-clients N", number(a.max_clients, 1, 4096), "serve at most N clients at once [64]"},
      {"--timeout SECONDS", number(a.timeout, 1.0, 86400.0),
          "let go of a client whose request takes longer to come [120]"},
      {"Machine"},
      {"*--threads N", number(a.threads, 0, 64), "use N threads for each model; 0: one for each CPU [1]"},
      {"--batch N", number(a.batch, 1, 256), "translate N sentences of a request together [4]"},
      {"--kernels NAME", text(a.kernels), "force a kernel table by its name (an unknown one lists them)"},
  };
}

struct CloseWords {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Reads the keys. Returns what is wrong, or "".
std::string read_keys(ServeArguments& a) {
  if (a.key_file.empty()) return "";
  const std::unique_ptr<std::FILE, CloseWords> file(std::fopen(a.key_file.c_str(), "rb"));
  if (!file) return a.key_file + ": cannot be read: " + std::strerror(errno);
  for (std::string line; read_line(file.get(), &line);)
    if (!is_blank(line)) a.keys.push_back(line);
  return a.keys.empty() ? a.key_file + ": has no keys; expected one a line" : "";
}

// Takes the options that a user chose in Home Assistant, which has checked their types. Returns what is wrong, or "".
std::string take_chosen(ServeArguments& a) {
  const std::string name = "/data/options.json";
  const std::unique_ptr<std::FILE, CloseWords> file(std::fopen(name.c_str(), "rb"));
  if (!file) return "--add-on: " + name + ": cannot be read: " + std::strerror(errno);
  const auto options = nlohmann::json::parse(file.get());
  a.models = {options.at("model")};
  a.language = options.at("language");
  a.threads = options.at("threads");
  a.wyoming = "tcp://0.0.0.0:10300";
  return "";
}

std::string problem_of(ServeArguments& a) {
  const bool has_sockets = std::getenv("LISTEN_FDS") != nullptr;  // systemd's
  if (a.models.empty()) return "--model: no file; expected --model FILE";
  if (a.wyoming.empty() && a.http.empty() && !has_sockets)
    return "no door; expected --wyoming tcp://127.0.0.1:10300, --http 127.0.0.1:8080, or both";
  if (!a.http.empty() && !Loop::is_local(a.http) && a.key_file.empty())
    return "--http " + a.http + ": others than this machine reach it; expected --api-key-file FILE";
  return read_keys(a);
}
}  // namespace

std::optional<int> parse_options(int argc, const char* const* argv, ServeArguments& arguments) {
  goldcrest::CommandLine app(
      {kProgram, "Serves models to Home Assistant and to clients of OpenAI's speech API and LibreTranslate's API.",
          rows_of(arguments),
          "  goldcrest-serve --model moonshine.gcst --wyoming tcp://0.0.0.0:10300\n"
          "  goldcrest-serve --model whisper.gcst --model en-fr=enfr.gcst --http 127.0.0.1:8080\n",
          "0 ended by a signal, 1 failed, 2 bad usage.",
          "A model has an engine, which answers requests in the order in which they came. All memory of engines is "
          "taken at the start. Nothing that clients say is stored or logged; an upload is in a file without a name "
          "until its text is sent.\n"
          "If a speech model's file has a voice detector, the server ends a command of --wyoming itself, 0.7 s after "
          "its last word.\n"
          "Sockets of systemd (LISTEN_FDS) are served too: those with FileDescriptorName=http as --http, others as "
          "--wyoming. SIGTERM ends the program within 2 s: answers that are not ready then are refused.\n"});
  if (const auto answer = app.parse(argc, argv)) return print_answer(kProgram, *answer);
  std::string problem = arguments.is_add_on ? take_chosen(arguments) : "";
  if (problem.empty()) problem = problem_of(arguments);
  if (!problem.empty()) return print_answer(kProgram, app.refuse(problem));
  return {};
}
