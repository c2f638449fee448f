// SPDX-License-Identifier: Apache-2.0
#include "wyoming.h"
#include <algorithm>
#include <tuple>
#include <utility>
#include "goldcrest/goldcrest.h"
#include "host/speech/utterances.h"
#include "host/speech/wav.h"
#include "models.h"
#include "wyoming_events.h"

namespace {
constexpr double kMostCommand = 60;                  // seconds of sound before audio-stop, without a detector
constexpr double kMostSilence = 10;                  // before anybody speaks, with one
constexpr double kMostIdle = 600;                    // between two events
constexpr double kMostEvent = 30;                    // within an event
constexpr size_t kMostTerms = 500, kMostTerm = 100;  // names and terms; bytes of one
constexpr size_t kMostWaiting = 4;                   // utterances

Json info_of(const Service& service) {
  const Json attribution = {{"name", "Goldcrest"}, {"url", ""}};
  Json models = Json::array();
  bool has_voice = !service.speech.empty();
  for (const auto& model : service.speech) {
    models.push_back({{"name", model->name()}, {"languages", model->languages()}, {"attribution", attribution},
        {"installed", true}, {"description", model->name()}, {"version", GOLDCREST_VERSION}});
    has_voice = has_voice && model->has_voice();
  }
  const Json program = {{"name", "goldcrest"}, {"attribution", attribution}, {"installed", true},
      {"description", "Speech to text on this machine"}, {"version", GOLDCREST_VERSION}, {"models", models},
      {"supports_transcript_streaming", true}, {"requires_external_vad", !has_voice},
      {"prefers_auto_gain_enabled", true}, {"prefers_noise_reduction_enabled", true}};
  Json info = {{"asr", Json::array({program})}};
  for (const char* const other : {"tts", "handle", "intent", "wake", "mic", "snd"}) info[other] = Json::array();
  return info;
}

// A turn: a command from its first sample to its transcript.
struct Turn {
  SpeechModel* model = nullptr;
  goldcrest::host::FrameConverter converter = {};
  int64_t rate = 0, width = 0, channels = 0;
  goldcrest_voice voice = {};
  std::unique_ptr<UtteranceCutter> cutter = {};  // with a detector
  std::vector<int16_t> samples = {};             // without one
  uint64_t n_samples = 0;
  size_t n_waiting = 0;                      // parts whose texts are to come
  bool is_heard = false, has_begun = false;  // all its sound has come; transcript-start is sent
  std::string text = {};
};

class WyomingProtocol : public Protocol {
 public:
  explicit WyomingProtocol(Service& service) : service_(service) {}

  size_t take(Connection& client, std::string_view bytes) override {
    const size_t used = reader_.take(bytes);
    if (!reader_.problem.empty()) refuse(client, reader_.problem);
    if (reader_.is_ready) handle(client, reader_.event);
    if (!client.is_finishing() && (reader_.is_between() != was_between_ || reader_.is_ready))
      client.set_deadline(reader_.is_between() ? kMostIdle : kMostEvent);
    was_between_ = reader_.is_between();
    return used;
  }

  void end(Connection& client) override {
    has_ended_ = true;
    if (!is_busy()) client.finish();
  }

  void refuse(Connection& client, const std::string& why) override {
    if (!turn_ && reader_.is_between() && reader_.problem.empty()) return client.finish();
    fail(client, why, "refused");
    client.finish_gently();
  }

  bool is_busy() const override { return turn_ && (turn_->is_heard || turn_->n_waiting > 0); }
 private:
  static void send(Connection& client, const char* type, const Json& data) { client.write(wyoming_bytes(type, data)); }

  void fail(Connection& client, const std::string& why, const char* code) {
    client.log(why);
    send(client, "error", {{"text", why}, {"code", code}});
    turn_.reset();
    has_answered_ = true;
    ++n_turns_;
    client.resume();
  }

  void handle(Connection& client, const WyomingEvent& event) {
    if (event.type == "describe") return send(client, "info", info_of(service_));
    if (event.type == "ping") return send(client, "pong", {{"text", event.text("text")}});
    if (event.type == "select-program" && event.text("name") != "goldcrest")
      return fail(
          client, "there is no program \"" + event.text("name") + "\"; expected \"goldcrest\"", "unknown-program");
    if (event.type == "transcribe") return begin_request(event);
    if (event.type == "audio-start") begin_turn(client, event);
    if (event.type == "audio-chunk") add_sound(client, event);
    if (event.type == "audio-stop" && turn_ && !turn_->is_heard) end_sound(client);
  }

  void begin_request(const WyomingEvent& event) {
    turn_.reset();
    has_answered_ = false;
    ++n_turns_;
    name_ = event.text("name");
    language_ = event.text("language");
    const std::string patience = event.text("vad_sensitivity");
    pause_ = patience == "aggressive" ? 0.4 : patience == "relaxed" ? 1.2 : 0.7;
    terms_.clear();
    for (const char* const field : {"transcript_names", "transcript_terms"}) {
      const auto found = event.data.find(field);
      if (found == event.data.end() || !found->is_array()) continue;
      for (const Json& term : *found)
        if (term.is_string() && terms_.size() < kMostTerms && term.get_ref<const std::string&>().size() <= kMostTerm)
          terms_.push_back(term.get<std::string>());
    }
  }

  void begin_turn(Connection& client, const WyomingEvent& event) {
    ++n_turns_;
    has_answered_ = false;
    turn_ = std::make_unique<Turn>();
    turn_->model = choose_speech(service_, name_, {language_, false});
    if (turn_->model == nullptr)
      return fail(client, "no model hears the language \"" + language_ + "\"; describe lists those that are heard",
          "unsupported-language");
    const Transcriber& transcriber = turn_->model->transcriber();
    if (transcriber.begin_voice(&turn_->voice))
      turn_->cutter.reset(
          new UtteranceCutter({transcriber.sample_rate(), transcriber.max_samples(), true, &turn_->voice, pause_}));
    set_format(client, event);
  }

  // Reads how the samples of an event are stored. Returns false after an error.
  bool set_format(Connection& client, const WyomingEvent& event) {
    Turn& turn = *turn_;
    const uint32_t model_rate = turn.model->transcriber().sample_rate();
    const int64_t rate = event.number("rate", model_rate), width = event.number("width", 2),
                  channels = event.number("channels", 1);
    if (std::make_tuple(rate, width, channels) == std::make_tuple(turn.rate, turn.width, turn.channels)) return true;
    std::tie(turn.rate, turn.width, turn.channels) = std::make_tuple(rate, width, channels);
    const auto bounded = [](int64_t value) { return static_cast<uint32_t>(std::clamp<int64_t>(value, 0, UINT32_MAX)); };
    const std::string problem = turn.converter.begin(bounded(rate), bounded(width), bounded(channels), model_rate);
    if (!problem.empty()) fail(client, "the sound " + problem, "unsupported-audio");
    return problem.empty();
  }

  void add_sound(Connection& client, const WyomingEvent& event) {
    if (!turn_ && !has_answered_) begin_turn(client, event);
    if (!turn_ || turn_->is_heard || !set_format(client, event)) return;
    std::vector<int16_t> samples;
    turn_->converter.push(reinterpret_cast<const uint8_t*>(event.payload.data()), event.payload.size(), &samples);
    hear(client, samples);
  }

  void hear(Connection& client, const std::vector<int16_t>& samples) {
    Turn& turn = *turn_;
    const double rate = turn.model->transcriber().sample_rate();
    turn.n_samples += samples.size();
    const double seconds = static_cast<double>(turn.n_samples) / rate;
    if (!turn.cutter) {
      turn.samples.insert(turn.samples.end(), samples.begin(), samples.end());
      if (seconds > kMostCommand) fail(client, "the command has more than 60 s of sound", "too-long");
      return;
    }
    turn.cutter->push(samples.data(), samples.size());
    // The turn is over when speech has ended, or if nobody speaks.
    const bool was_cut = hear_finished(client);
    if (!turn_ || turn.is_heard || turn.cutter->is_speaking()) return;
    if (was_cut || (turn.n_waiting == 0 && seconds > kMostSilence)) end_turn(client);
  }

  // Gives the model the utterances that are finished. Returns whether there were any.
  bool hear_finished(Connection& client) {
    bool was_cut = false;
    for (Utterance utterance; turn_ && turn_->cutter->next(&utterance); was_cut = true)
      work(client, std::move(utterance.samples), false);
    return was_cut;
  }

  void end_sound(Connection& client) {
    std::vector<int16_t> samples;
    turn_->converter.finish(&samples);
    if (turn_->cutter) {
      turn_->cutter->push(samples.data(), samples.size());
      turn_->cutter->finish();
      hear_finished(client);
    } else {
      turn_->samples.insert(turn_->samples.end(), samples.begin(), samples.end());
      work(client, std::move(turn_->samples), true);
    }
    if (turn_) end_turn(client);
  }

  void end_turn(Connection& client) {
    turn_->is_heard = true;
    if (turn_->n_waiting == 0) answer(client);
  }

  void work(Connection& client, std::vector<int16_t> samples, bool is_whole) {
    ++turn_->n_waiting;
    SpeechModel* const model = turn_->model;
    const auto sound = std::make_shared<std::vector<int16_t>>(std::move(samples));
    TextRequest request;
    request.task.language = language_;
    request.key_terms = terms_;
    const std::function<Heard()> job = [=] {
      return is_whole ? model->hear(*sound, request) : model->hear_utterance(std::move(*sound), request);
    };
    const auto done = [n = n_turns_](Connection& it, const Heard& heard) {
      static_cast<WyomingProtocol&>(it.protocol()).take_text(it, heard, n);
    };
    if (!work_for<Heard>(client, model->worker(), job, done))
      return fail(client, "too many commands wait; try again later", "busy");
    if (turn_->n_waiting >= kMostWaiting) client.pause();
  }

  void take_text(Connection& client, const Heard& heard, uint64_t n) {
    if (!turn_ || n != n_turns_) return;
    if (heard.problem) return fail(client, heard.problem.text, "failed");
    Turn& turn = *turn_;
    --turn.n_waiting;
    if (!std::exchange(turn.has_begun, true)) send(client, "transcript-start", language_of(heard.language));
    const std::string chunk = (turn.text.empty() || heard.text.empty() ? "" : " ") + heard.text;
    turn.text += chunk;
    if (!chunk.empty()) send(client, "transcript-chunk", {{"text", chunk}});
    if (!heard.language.empty()) heard_language_ = heard.language;
    if (turn.is_heard && turn.n_waiting == 0) answer(client);
    client.resume();
  }

  Json language_of(const std::string& heard) const {
    const std::string& language = heard.empty() ? language_ : heard;
    return language.empty() ? Json::object() : Json{{"language", language}};
  }

  void answer(Connection& client) {
    Json transcript = language_of(heard_language_);
    if (!turn_->has_begun) send(client, "transcript-start", transcript);
    transcript["text"] = turn_->text;
    send(client, "transcript", transcript);
    send(client, "transcript-stop", Json::object());
    turn_.reset();
    heard_language_.clear();
    has_answered_ = true;  // what the client says meanwhile is of no turn
    if (has_ended_ || client.loop().is_stopping()) client.finish();
  }

  Service& service_;
  WyomingReader reader_;
  bool was_between_ = true, has_ended_ = false, has_answered_ = false;
  std::string name_, language_, heard_language_;
  double pause_ = 0.7;
  std::vector<std::string> terms_;
  std::unique_ptr<Turn> turn_;
  uint64_t n_turns_ = 0;
};
}  // namespace

ProtocolMaker wyoming_protocol(Service& service) {
  return [&service] { return std::make_unique<WyomingProtocol>(service); };
}
