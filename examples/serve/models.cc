// SPDX-License-Identifier: Apache-2.0
#include "models.h"
#include <algorithm>
#include <exception>
#include "goldcrest/languages.h"
#include "host/marks/html.h"
#include "host/marks/marked_text.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/printable.h"
#include "host/sentence_search.h"
#include "host/speech/ffmpeg.h"
#include "host/speech/wav.h"
#include "host/text_lines.h"
#include "host/wording.h"

using goldcrest::host::Hearing;
using goldcrest::host::MarkedText;
using goldcrest::host::Sentence;

Worker::~Worker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
    jobs_.clear();
  }
  has_job_.notify_one();
  thread_.join();
}

bool Worker::add(std::function<void()> job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (jobs_.size() >= kMostJobs) return false;
  jobs_.push_back(std::move(job));
  has_job_.notify_one();
  return true;
}

void Worker::run() {
  for (std::unique_lock<std::mutex> lock(mutex_);;) {
    has_job_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
    if (is_over_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

std::string matching_language(const std::string& language, const std::vector<std::string>& codes) {
  std::string wanted = goldcrest::language_code(language);
  for (int i = 0; i < 2; ++i) {
    for (const std::string& code : codes)
      if (goldcrest::language_code(code) == wanted) return code;
    wanted.resize(std::min(wanted.find_first_of("-_"), wanted.size()));
  }
  return "";
}

std::string SpeechModel::start(const std::string& name, const std::string& path, const ServeArguments& arguments) {
  name_ = name;
  TranscriberOptions options;
  options.model = path;
  options.kernels = arguments.kernels;
  options.limits.threads = arguments.threads;
  options.max_seconds = arguments.max_seconds;
  options.takes_requests = true;
  transcriber_ = std::make_unique<Transcriber>(options);
  std::string problem = transcriber_->start();
  if (!problem.empty()) return problem;
  TaskPrompt prompt;
  problem = task_prompt(transcriber_->session(), {}, &prompt);
  is_multilingual_ = !prompt.ids.empty();
  translates_ = task_prompt(transcriber_->session(), {"", true}, &prompt).empty();
  const std::string stated = transcriber_->session().info().target_language;
  languages_ = is_multilingual_ ? speech_entries(transcriber_->session()).codes
                                : std::vector<std::string>{stated.empty() ? arguments.language : stated};
  has_voice_ = transcriber_->begin_voice(&voice_);
  return problem;
}

SpeechModel* choose_speech(const Service& service, const std::string& name, const SpeechTask& task) {
  SpeechModel* best = nullptr;
  for (const auto& model : service.speech) {
    if (!model->has_language(task.language) || (task.translates && !model->translates())) continue;
    if (best == nullptr || model->name() == name) best = model.get();
  }
  return best;
}

bool SpeechModel::has_language(const std::string& language) const {
  return language.empty() || !matching_language(language, languages_).empty();
}

std::string SpeechModel::set(TextRequest request, Heard* heard) {
  if (!is_multilingual_) heard->language = languages_[0];
  std::string& language = request.task.language;
  language = is_multilingual_ ? matching_language(language, languages_) : "";
  return transcriber_->set_request(request);
}

std::string SpeechModel::hear_part(const Utterance& part, Purpose purpose, Transcription* made, Heard* heard) {
  const std::string problem = transcriber_->transcribe(part.samples, purpose, made);
  const uint32_t rate = transcriber_->sample_rate();
  if (!made->language.empty()) heard->language = made->language;
  for (size_t i = 0; i < made->segments.size(); ++i) {
    const bool is_last = i + 1 == made->segments.size();
    Segment shown = goldcrest::host::placed(made->segments[i], part, 0, rate);
    shown.text = goldcrest::single_line(shown.text, true);
    heard->text += (heard->text.empty() || shown.text.empty() ? "" : " ") + shown.text;
    const double begin = static_cast<double>(part.begin) / rate;
    const double end = is_last ? static_cast<double>(part.begin + made->n_heard) / rate
                               : goldcrest::host::placed(made->segments[i + 1], part, 0, rate).begin;
    heard->parts.push_back({std::move(shown), begin, end, made->avg_logprob, made->no_speech, made->temperature});
  }
  return problem;
}

std::string SpeechModel::hear_all(
    Hearing hearing, TextRequest request, const std::function<void(const std::string&)>& add, Heard* heard) {
  hearing.hear = [&](const Utterance& part, Purpose purpose, Transcription* made) {
    const size_t before = heard->text.size();
    const std::string failure = hear_part(part, purpose, made, heard);
    if (add && heard->text.size() > before) add(heard->text.substr(before));
    return failure;
  };
  uint64_t n_samples = 0;
  std::string problem = set(std::move(request), heard);
  if (problem.empty()) problem = hear_recording(hearing, *transcriber_, &n_samples);
  heard->seconds = static_cast<double>(n_samples) / transcriber_->sample_rate();
  return problem;
}

Heard SpeechModel::hear_utterance(std::vector<int16_t> samples, TextRequest request) {
  Heard heard;
  Transcription made;
  Utterance part = {0, std::move(samples), 0, 0};
  part.speech_end = part.end();
  std::string problem = set(std::move(request), &heard);
  if (problem.empty() && part.samples.size() >= transcriber_->min_samples())
    problem = hear_part(part, Purpose::kUtterance, &made, &heard);
  heard.problem = {problem};
  return heard;
}

Heard SpeechModel::hear(const std::vector<int16_t>& samples, TextRequest request) {
  size_t at = 0;
  Hearing hearing;
  hearing.read = [&](int16_t* to, size_t n) {
    n = std::min(n, samples.size() - at);
    std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(at), n, to);
    at += n;
    return n;
  };
  hearing.at_pauses = false;
  Heard heard;
  heard.problem = {hear_all(hearing, std::move(request), {}, &heard)};
  return heard;
}

Heard SpeechModel::hear_file(const File& file, TextRequest request) {
  Heard heard;
  goldcrest::host::WavReader reader;
  goldcrest::host::Ffmpeg ffmpeg;
  const uint32_t rate = transcriber_->sample_rate();
  std::rewind(file.file);
  std::string problem = reader.open(file.file, "audio", rate);
  std::rewind(file.file);
  heard.is_unknown_format = !problem.empty() && std::fgetc(file.file) != 'R';  // RIFF's or RF64's
  std::rewind(file.file);
  if (problem.empty()) {
    problem = reader.open(file.file, "audio", rate);
  } else if (heard.is_unknown_format && file.has_ffmpeg) {
    problem = ffmpeg.start_untrusted(file.file, rate);
    if (problem.empty()) problem = reader.open(ffmpeg.output(), "audio", rate);
  }
  heard.problem = {problem, true};
  if (heard.problem) return heard;
  Hearing hearing;
  hearing.read = [&](int16_t* samples, size_t n) { return reader.read(samples, n); };
  hearing.at_pauses = file.at_pauses;
  hearing.voice = has_voice_ && transcriber_->begin_voice(&voice_) ? &voice_ : nullptr;
  heard.problem = {hear_all(hearing, std::move(request), file.add, &heard)};
  if (!heard.problem) heard.problem = {reader.problem(), true};
  const std::string failure = ffmpeg.finish();
  if (!failure.empty()) heard.problem = {failure, true};
  return heard;
}

struct TextModel::Text {
  size_t input;  // it is a part of this
  MarkedText marked;
  std::string end;
  std::vector<Sentence> sentences = {};
  Problem problem = {};
};

std::string TextModel::start(const std::string& name, const std::string& path, const ServeArguments& arguments) {
  name_ = name;
  path_ = path;
  std::string problem = session_.open(path, arguments.threads);
  if (problem.empty()) problem = session_.read_info();
  const goldcrest_info& info = session_.info();
  if (problem.empty() && (!info.has_tokenizer || !info.has_detokenizer)) problem = "the model has no tokenizer";
  if (!problem.empty()) return problem;
  sources_ = source_languages(session_.model(), session_.model_bytes());
  targets_ = target_languages(session_.model(), session_.model_bytes());
  has_sources_ = !sources_.empty();
  has_targets_ = !targets_.empty();
  if (!has_sources_) sources_ = {info.source_language};
  if (!has_targets_) targets_ = {info.target_language};
  // A name "en-fr" says what the file does not.
  const size_t dash = name.find('-');
  if (sources_[0].empty() && dash != name.npos) sources_ = {name.substr(0, dash)};
  if (targets_[0].empty() && dash != name.npos) targets_ = {name.substr(dash + 1)};
  if (sources_[0].empty() || targets_[0].empty())
    return "the file states no languages; name it as --model en-fr=" + path;
  goldcrest_limits limits = {};
  limits.batch = arguments.batch;
  limits.alignment_layers = GOLDCREST_ALL_LAYERS;  // for tags
  limits.max_source_bytes = info.limits.max_source_bytes;
  abbreviations_ = abbreviations_of(sources_.size() == 1 ? sources_[0] : "");
  splits_ = session_.takes_sentences();
  problem = session_.start({arguments.kernels, false, false, false, {}, {}}, limits);
  if (!problem.empty()) return problem;
  search_ = info.search;
  search_.beam_size = 0;
  if (search_.max_target_tokens > session_.memory().limits.max_target_tokens) search_.max_target_tokens = 0;
  const int status = goldcrest_set_search(session_.engine(), &search_);
  return status < 0 ? session_.describe(status) : "";
}

// Reads the sentences of a text.
void TextModel::read(size_t index, Text* text) {
  const std::string& words = text->marked.text;
  text->problem = {text_problem(words), true};
  if (text->problem || is_blank(words)) return;
  const auto add = [&](Sentence sentence, int status) {
    sentence.input = index;
    if (status < 0 && status != GOLDCREST_ERROR_ARGUMENT) text->problem = {session_.describe(status), true};
    if (status < 0 || text->marked.is_kept(sentence.begin, sentence.bytes)) sentence.source.clear();
    text->sentences.push_back(std::move(sentence));
  };
  int status = GOLDCREST_OK;
  if (!splits_) {
    Sentence whole;
    whole.bytes = words.size();
    status = session_.tokenize(words, &whole.source, &whole.pieces);
    return add(std::move(whole), status);
  }
  goldcrest::host::TextReader reader(session_, words, abbreviations_, false);
  for (Sentence sentence; reader.next(&session_, &sentence, &status); sentence = {}) add(std::move(sentence), status);
}

// Finds the translations of all sentences.
Problem TextModel::search(std::vector<Text>* texts) {
  std::vector<Sentence*> order;
  for (Text& text : *texts)
    for (Sentence& sentence : text.sentences) order.push_back(&sentence);
  goldcrest::host::SentenceSearch search;
  goldcrest::host::SentenceSearch::Options options;
  options.aligns = [texts](const Sentence& sentence) {
    return (*texts)[sentence.input].marked.has_marks(sentence.begin, sentence.bytes);
  };
  search.begin(options, std::move(order));
  while (!search.is_done()) {
    const Sentence* const finished = search.work(&session_);
    if (finished != nullptr && !finished->problem.empty()) return {finished->problem, true};
    if (is_interrupted()) return {"the server ends"};
  }
  return {};
}

Problem TextModel::translate(
    const std::string& source, const std::string& target, bool is_html, std::vector<std::string>* inputs) {
  goldcrest_reset(session_.engine());
  const int status = goldcrest_set_languages(
      session_.engine(), has_sources_ ? source.c_str() : nullptr, has_targets_ ? target.c_str() : nullptr);
  if (status < 0) return {session_.describe(status)};
  std::vector<Text> texts;
  for (size_t i = 0; i < inputs->size(); ++i) {
    const std::string& input = (*inputs)[i];
    goldcrest::host::HtmlReader reader;
    if (is_html) reader.push(input);
    if (is_html) reader.finish();
    for (MarkedText text; is_html && reader.next(&text);) texts.push_back({i, std::move(text), ""});
    for (size_t at = 0; !is_html && at <= input.size();) {
      const size_t end = std::min(input.find('\n', at), input.size());
      std::string line = without_soft_hyphens(input.substr(at, end - at));
      texts.push_back({i, {{}, std::move(line)}, end < input.size() ? "\n" : ""});
      at = end + 1;
    }
  }
  Problem problem;
  for (size_t i = 0; i < texts.size() && !problem; ++i) {
    if (is_html) goldcrest::host::put_stand_ins({}, &texts[i].marked);
    read(i, &texts[i]);
    problem = texts[i].problem;
  }
  if (!problem) problem = search(&texts);
  if (problem) return problem;
  for (std::string& input : *inputs) input.clear();
  for (const Text& text : texts) {
    std::string& out = (*inputs)[text.input];
    goldcrest::host::MarkWriter writer(text.marked);
    for (const Sentence& sentence : text.sentences) writer.add(sentence, &out);
    writer.finish(&out);
    out += text.end;
  }
  return {};
}
