// SPDX-License-Identifier: Apache-2.0
// OpenAI's API for speech: a form with a file comes in, its text goes out.
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include "host/speech/subtitles.h"
#include "host/wording.h"
#include "http.h"

using nlohmann::json;

namespace {
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Returns a file on disk without a name, or null.
File open_spool() {
  const char* const asked = std::getenv("TMPDIR");
  for (const char* const folder : {asked, "/var/tmp", "/tmp"}) {
    const int file = folder == nullptr ? -1 : open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return File(fdopen(file, "w+b"));
  }
  return File(std::tmpfile());
}

struct Fields {
  std::string model, language, prompt, format = "json";
  bool has_words = false, has_segments = false, streams = false;
};

// Names and terms of a prompt: what stands between its commas, unless that is a sentence.
std::vector<std::string> terms_of(const std::string& prompt) {
  constexpr size_t kMostTerms = 200, kMostWords = 4;
  std::vector<std::string> terms;
  for (size_t at = 0; at < prompt.size() && terms.size() < kMostTerms;) {
    const size_t end = std::min(prompt.find_first_of(",;.\n", at), prompt.size());
    std::string term = prompt.substr(at, end - at);
    term.erase(0, std::min(term.find_first_not_of(" \t\r"), term.size()));
    term.erase(term.find_last_not_of(" \t\r") + 1);
    const auto n_spaces = static_cast<size_t>(std::count(term.begin(), term.end(), ' '));
    if (!term.empty() && n_spaces < kMostWords) terms.push_back(term);
    at = end + 1;
  }
  return terms;
}

json words_of(const Segment& segment) {
  json words = json::array();
  for (const goldcrest::host::TimedWord& word : segment.words) {
    const size_t begin = std::min(word.text.find_first_not_of(' '), word.text.size());
    words.push_back({{"word", word.text.substr(begin)}, {"start", word.begin}, {"end", word.end}});
  }
  return words;
}

// Returns how much larger a text is than zlib makes it. A loop has a large ratio.     openai/whisper
double compression_ratio(const std::string& text) {
  uLongf n = compressBound(text.size());
  std::vector<Bytef> packed(n);
  compress(packed.data(), &n, reinterpret_cast<const Bytef*>(text.data()), text.size());
  return static_cast<double>(text.size()) / static_cast<double>(n);
}

json verbose(const Heard& heard, const Fields& fields, bool translates) {
  std::string language = goldcrest::language_name(heard.language);
  for (char& c : language) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));  // as OpenAI writes it
  json body = {{"task", translates ? "translate" : "transcribe"}, {"language", language}, {"duration", heard.seconds},
      {"text", heard.text}};
  json segments = json::array(), words = json::array();
  for (size_t i = 0; i < heard.parts.size(); ++i) {
    const Heard::Part& part = heard.parts[i];
    segments.push_back({{"id", i}, {"seek", 0}, {"start", part.segment.begin}, {"end", part.segment.end},
        {"text", part.segment.text}, {"tokens", part.segment.tokens}, {"temperature", part.temperature},
        {"avg_logprob", part.avg_logprob}, {"compression_ratio", compression_ratio(part.segment.text)}});
    if (part.no_speech >= 0) segments.back()["no_speech_prob"] = part.no_speech;
    for (json& word : words_of(part.segment)) words.push_back(std::move(word));
  }
  if (fields.has_segments || !fields.has_words) body["segments"] = segments;
  if (fields.has_words) body["words"] = words;
  return body;
}

std::string subtitles(const Heard& heard, bool is_vtt) {
  std::string text = is_vtt ? "WEBVTT\n\n" : "";
  uint64_t n = 0;
  double end = 0;
  for (const Heard::Part& part : heard.parts) {
    for (const Subtitle& it : make_subtitles(part.segment.words, {}, std::max(part.earliest, end), part.latest)) {
      text += printed_subtitle(it, ++n, is_vtt);
      end = it.end;
    }
  }
  return text;
}

class TranscriptionHandler : public HttpHandler {
 public:
  TranscriptionHandler(const HttpHead& head, bool translates)
      : translates_(translates),
        form_(
            head.header("content-type"),
            [this](const std::string& name, const std::string&) { return begin_part(name); },
            [this](std::string_view bytes) { return add(bytes); }) {
    if (head.header("content-type").compare(0, 19, "multipart/form-data") != 0)
      fail(415, "the body is no multipart/form-data; send the fields \"file\" and \"model\" so");
  }

  bool take(std::string_view bytes) override {
    if (!error_.text.empty()) return false;
    if (form_.take(bytes)) return true;
    return error_.text.empty() ? fail(400, form_.problem()) : false;
  }

  void finish(HttpProtocol& http) override;
 private:
  static constexpr size_t kMostField = 1 << 16;

  bool begin_part(const std::string& name) {
    is_file_ = name == "file";
    if (is_file_ && file_) return fail(400, "the form has two fields \"file\"");
    if (is_file_) file_ = std::shared_ptr<std::FILE>(open_spool());
    if (is_file_ && !file_) return fail(500, std::string("no file for the upload: ") + std::strerror(errno));
    field_ = is_file_ ? nullptr : &fields_.emplace_back(name, "").second;
    return true;
  }

  bool add(std::string_view bytes) {
    if (is_file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) < bytes.size())
      return fail(500, std::string("the upload cannot be stored: ") + std::strerror(errno));
    if (!is_file_ && field_->size() + bytes.size() > kMostField)
      return fail(413, "a field of the form has more than 65536 bytes");
    if (!is_file_) field_->append(bytes);
    return true;
  }

  // *fields <- those of the form. Returns what is wrong with them, or "".
  std::string read_fields(Fields* fields) const;

  bool translates_, is_file_ = false;
  MultipartReader form_;
  std::shared_ptr<std::FILE> file_;
  std::vector<std::pair<std::string, std::string>> fields_;
  std::string* field_ = nullptr;
};

std::string TranscriptionHandler::read_fields(Fields* fields) const {
  const std::vector<std::string> formats = {"json", "text", "srt", "vtt", "verbose_json"};
  for (const auto& [name, value] : fields_) {
    if (name == "model") fields->model = value;
    if (name == "language") fields->language = value;
    if (name == "prompt") fields->prompt = value;
    if (name == "response_format") fields->format = value;
    if (name == "stream") fields->streams = value == "true" || value == "True" || value == "1";
    if (name.compare(0, 23, "timestamp_granularities") != 0) continue;
    if (value != "word" && value != "segment") return "timestamp_granularities: expected word or segment";
    (value == "word" ? fields->has_words : fields->has_segments) = true;
  }
  const std::string problem = goldcrest::choice_problem(fields->format, formats);
  if (!problem.empty()) return "response_format: " + problem;
  if (fields->streams && fields->format != "json" && fields->format != "text")
    return "stream: only with the response_format json or text";
  return file_ ? "" : "the form has no field \"file\"";
}

void TranscriptionHandler::finish(HttpProtocol& http) {
  if (error_.text.empty() && !form_.is_done()) fail(400, "the form ends before its last boundary");
  if (!error_.text.empty()) return http.fail(error_.status, error_.text);
  Fields fields;
  const std::string problem = read_fields(&fields);
  if (!problem.empty()) return http.fail(400, problem);
  TextRequest request;
  request.task = {fields.language, translates_};
  SpeechModel* const model = choose_speech(http.service(), fields.model, request.task);
  if (model == nullptr)
    return http.fail(400, translates_ ? "no model of this server translates speech; it needs a multilingual Whisper"
                                      : "no model of this server hears the language \"" + fields.language + "\"");
  const bool is_text = fields.format == "json" || fields.format == "text";
  request.finds_words = fields.has_words || fields.format == "srt" || fields.format == "vtt";
  request.key_terms = terms_of(fields.prompt);
  request.prompt = fields.prompt;
  SpeechModel::File file = {file_.get(), http.service().arguments.has_ffmpeg, !is_text, {}};
  if (fields.streams) {
    file.add = [send = http.event_sender()](const std::string& text) {
      send({{"type", "transcript.text.delta"}, {"delta", text}});
    };
  }
  const std::function<Heard()> job = [=, kept = file_] { return model->hear_file(file, request); };
  http.work<Heard>(model->worker(), job, [fields, translates = translates_](HttpProtocol& it, const Heard& heard) {
    const Problem& failed = heard.problem;
    if (failed) return it.fail(heard.is_unknown_format ? 415 : failed.is_clients ? 400 : 500, failed.text);
    const json usage = {{"type", "duration"}, {"seconds", heard.seconds}};
    if (fields.streams) {
      it.send_event({{"type", "transcript.text.done"}, {"text", heard.text}, {"usage", usage}});
      return it.end_events();
    }
    if (fields.format == "json") return it.answer_json(200, {{"text", heard.text}, {"usage", usage}});
    if (fields.format == "verbose_json") return it.answer_json(200, verbose(heard, fields, translates));
    const bool is_plain = fields.format == "text";
    it.answer(
        200, "text/plain; charset=utf-8", is_plain ? heard.text + "\n" : subtitles(heard, fields.format == "vtt"));
  });
}
}  // namespace

std::unique_ptr<HttpHandler> transcription_handler(const HttpHead& head, bool translates) {
  return std::make_unique<TranscriptionHandler>(head, translates);
}
