// SPDX-License-Identifier: Apache-2.0
// LibreTranslate's API: texts come in as a form or as JSON, their translations go out.
#include <algorithm>
#include <set>
#include "host/wording.h"
#include "http.h"

using nlohmann::json;

namespace {
// A translation by one model.
struct Leg {
  TextModel* model;
  std::string source, target;
};

// Returns the models that lead from one language to another: one, or two with a language between; none if they do not.
std::vector<Leg> find_way(const Service& service, const std::string& source, const std::string& target) {
  const auto leg = [](TextModel& model, const std::string& from, const std::string& to) {
    const std::string a = matching_language(from, model.sources()), b = matching_language(to, model.targets());
    return Leg{a.empty() || b.empty() || a == b ? nullptr : &model, a, b};
  };
  for (const auto& model : service.text) {
    const Leg whole = leg(*model, source, target);
    if (whole.model != nullptr) return {whole};
  }
  for (const auto& first : service.text) {
    if (matching_language(source, first->sources()).empty()) continue;
    for (const std::string& between : first->targets()) {
      for (const auto& second : service.text) {
        const Leg a = leg(*first, source, between), b = leg(*second, between, target);
        if (a.model != nullptr && b.model != nullptr) return {a, b};
      }
    }
  }
  return {};
}

std::set<std::string> all_codes(const Service& service, bool of_sources) {
  std::set<std::string> codes;
  for (const auto& model : service.text) {
    const std::vector<std::string>& some = of_sources ? model->sources() : model->targets();
    codes.insert(some.begin(), some.end());
  }
  return codes;
}

class TranslationHandler : public HttpHandler {
 public:
  explicit TranslationHandler(const HttpHead& head) : type_(head.header("content-type")) {}
  bool take(std::string_view bytes) override {
    body_.append(bytes);
    return true;
  }
  void finish(HttpProtocol& http) override;
 private:
  std::string read();
  std::string read_json();
  void read_field(const std::string& name, const std::string& value);

  std::string type_, body_;
  std::string source_, target_, format_ = "text", key_;
  std::vector<std::string> texts_;
  bool is_list_ = false, has_text_ = false;
};

void TranslationHandler::read_field(const std::string& name, const std::string& value) {
  if (name == "q") {
    is_list_ = has_text_;
    has_text_ = true;
    texts_.push_back(value);
  }
  if (name == "source") source_ = value;
  if (name == "target") target_ = value;
  if (name == "format") format_ = value;
  if (name == "api_key") key_ = value;
}

std::string TranslationHandler::read_json() {
  const json body = json::parse(body_, nullptr, false);
  if (!body.is_object()) return "the body is no JSON object";
  for (const auto& [name, value] : body.items()) {
    if (value.is_string()) read_field(name, value.get<std::string>());
    if (name != "q" || !value.is_array()) continue;
    for (const json& text : value) {
      if (!text.is_string()) return "q: a list of texts has something else in it";
      read_field("q", text.get<std::string>());
    }
    is_list_ = has_text_ = true;
  }
  return "";
}

// Reads the body. Returns what is wrong with it, or "".
std::string TranslationHandler::read() {
  std::string problem;
  std::vector<std::pair<std::string, std::string>> fields;
  if (type_.compare(0, 16, "application/json") == 0) {
    problem = read_json();
  } else if (type_.compare(0, 19, "multipart/form-data") == 0) {
    MultipartReader form(
        type_,
        [&](const std::string& name, const std::string&) {
          fields.emplace_back(name, "");
          return true;
        },
        [&](std::string_view bytes) {
          fields.back().second.append(bytes);
          return true;
        });
    if (!form.take(body_) || !form.is_done()) problem = form.problem() + "the form ends before its last boundary";
  } else if (type_.compare(0, 33, "application/x-www-form-urlencoded") == 0) {
    fields = read_form(body_);
  } else {
    return "the Content-Type is none of application/json, application/x-www-form-urlencoded, multipart/form-data";
  }
  if (!problem.empty()) return problem;
  for (const auto& [name, value] : fields) read_field(name, value);
  if (!has_text_) return "Invalid request: missing q parameter";
  if (source_.empty()) return "Invalid request: missing source parameter";
  if (target_.empty()) return "Invalid request: missing target parameter";
  return format_ == "text" || format_ == "html" ? "" : "format: expected text or html";
}

struct Translated {
  Problem problem = {};
  std::vector<std::string> texts = {};
};

// A request on its way from model to model.
struct Errand {
  std::vector<Leg> legs = {};
  bool is_html = false, is_list = false;
  std::string detected = {};  // with source=auto
};

void go_on(HttpProtocol& http, const Errand& errand, size_t i, std::vector<std::string> texts) {
  if (i == errand.legs.size()) {
    json body = {{"translatedText", errand.is_list ? json(texts) : json(texts.at(0))}};
    const json found = {{"confidence", 0}, {"language", errand.detected}};  // nothing was detected
    if (!errand.detected.empty())
      body["detectedLanguage"] = errand.is_list ? json(std::vector<json>(texts.size(), found)) : found;
    return http.answer_json(200, body);
  }
  const Leg leg = errand.legs[i];
  const std::function<Translated()> job = [leg, is_html = errand.is_html, kept = std::move(texts)]() mutable {
    Translated made;
    made.problem = leg.model->translate(leg.source, leg.target, is_html, &kept);
    made.texts = std::move(kept);
    return made;
  };
  http.work<Translated>(leg.model->worker(), job, [errand, i](HttpProtocol& it, Translated& made) {
    if (made.problem) return it.fail(made.problem.is_clients ? 400 : 500, made.problem.text);
    go_on(it, errand, i + 1, std::move(made.texts));
  });
}

void TranslationHandler::finish(HttpProtocol& http) {
  const std::string problem = read();
  if (!problem.empty()) return http.fail(400, problem);
  if (!http.takes_key(key_)) return http.fail(403, "Invalid API key");
  Errand errand;
  errand.is_html = format_ == "html";
  errand.is_list = is_list_;
  if (source_ == "auto") {
    std::vector<std::string> sources;
    for (const std::string& code : all_codes(http.service(), true))
      if (!find_way(http.service(), code, target_).empty()) sources.push_back(code);
    if (sources.size() > 1)
      return http.fail(400,
          "source: auto is possible with one source language only; send one of " + goldcrest::list_choices(sources));
    errand.detected = source_ = sources.empty() ? source_ : sources[0];
  }
  const bool is_same = !matching_language(source_, {target_}).empty();
  if (!is_same) errand.legs = find_way(http.service(), source_, target_);
  if (!is_same && errand.legs.empty())
    return http.fail(400, "no model of this server translates from \"" + source_ + "\" to \"" + target_ +
                              "\"; /languages lists the pairs");
  if (texts_.empty()) return http.answer_json(200, {{"translatedText", json::array()}});
  go_on(http, errand, 0, std::move(texts_));
}
}  // namespace

std::unique_ptr<HttpHandler> translation_handler(const HttpHead& head) {
  return std::make_unique<TranslationHandler>(head);
}

json translation_languages(const Service& service) {
  json languages = json::array();
  const std::set<std::string> targets = all_codes(service, false);
  for (const std::string& source : all_codes(service, true)) {
    json reached = json::array();
    for (const std::string& target : targets)
      if (source == target || !find_way(service, source, target).empty()) reached.push_back(target);
    languages.push_back({{"code", source}, {"name", goldcrest::language_name(source)}, {"targets", reached}});
  }
  return languages;
}
