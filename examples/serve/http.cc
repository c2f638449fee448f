// SPDX-License-Identifier: Apache-2.0
#include "http.h"
#include <algorithm>

using nlohmann::json;

namespace {
constexpr double kMostHeadSeconds = 15, kMostIdleSeconds = 75;
constexpr uint64_t kMostOtherBody = uint64_t{1} << 18;  // bytes; of texts and the like

std::string dumped(const json& body) { return body.dump(-1, ' ', false, json::error_handler_t::replace); }

bool is_of_openai(const std::string& path) { return path.compare(0, 4, "/v1/") == 0; }

json models_of(const Service& service) {
  json list = json::array();
  const auto add = [&list](const std::string& name) {
    list.push_back({{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "goldcrest"}});
  };
  for (const auto& model : service.speech) add(model->name());
  for (const auto& model : service.text) add(model->name());
  return {{"object", "list"}, {"data", list}};
}

json settings_of(const Service& service) {
  const json languages = translation_languages(service);
  json settings = {{"apiKeys", !service.arguments.keys.empty()}, {"keyRequired", !service.arguments.keys.empty()},
      {"charLimit", -1}, {"suggestions", false}, {"frontendTimeout", 500}, {"supportedFilesFormat", json::array()}};
  if (languages.empty()) return settings;
  const json& source = languages[0];
  const json code = source["targets"][0];
  settings["language"] = {
      {"source", {{"code", source["code"]}, {"name", source["name"]}}}, {"target", {{"code", code}, {"name", code}}}};
  return settings;
}

// The time that it takes does not tell how much of a key is right.
bool is_same(const std::string& a, const std::string& b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

// A request whose answer is known without its body.
class FixedHandler : public HttpHandler {
 public:
  FixedHandler(int status, json body) : status_(status), body_(std::move(body)) {}
  bool take(std::string_view) override { return true; }
  void finish(HttpProtocol& http) override { http.answer_json(status_, body_); }
 private:
  int status_;
  json body_;
};
}  // namespace

size_t HttpProtocol::take(Connection& client, std::string_view bytes) {
  client_ = &client;
  if (is_busy_ || is_over_) return 0;
  const bool was_begun = reader_.is_begun();
  const size_t used = reader_.take(bytes);
  if (!was_begun && reader_.is_begun()) client.set_deadline(kMostHeadSeconds);
  if (reader_.has_head && !is_begun_ && reader_.status == 0) begin();
  if (is_over_ || is_busy_) return used;
  if (reader_.status != 0) {
    const bool is_own = handler_ && !handler_->error().text.empty();
    fail(is_own ? handler_->error().status : reader_.status, is_own ? handler_->error().text : reader_.problem);
  } else if (reader_.is_done) {
    is_busy_ = true;
    client.set_deadline(0);
    handler_->finish(*this);
  }
  return used;
}

// The head is read.
void HttpProtocol::begin() {
  is_begun_ = true;
  client_->set_deadline(service_.arguments.timeout);
  if (!is_allowed()) return;
  choose_handler();
  if (!handler_) return;
  reader_.body = [this](std::string_view bytes) { return handler_->take(bytes); };
  if (!reader_.is_done && reader_.head.header("expect") == "100-continue")
    client_->write("HTTP/1.1 100 Continue\r\n\r\n");
}

bool HttpProtocol::takes_key(const std::string& key) const {
  const std::vector<std::string>& keys = service_.arguments.keys;
  bool found = keys.empty();
  for (const std::string& each : keys) found = is_same(each, key) || found;
  return found;
}

// Answers a request that a foreign page sends, or one that has no key.
bool HttpProtocol::is_allowed() {
  const HttpHead& head = reader_.head;
  const std::vector<std::string>& allowed = service_.arguments.allowed_origins;
  const std::string origin = head.header("origin"), key = head.header("authorization");
  const bool is_known = std::find(allowed.begin(), allowed.end(), origin) != allowed.end() ||
                        std::find(allowed.begin(), allowed.end(), "*") != allowed.end();
  if (!origin.empty() && !is_known) {
    fail(403, "pages of this origin may not ask; start the server with --allow-origin");
    return false;
  }
  if (head.method == "OPTIONS" && !origin.empty()) {
    answer(204, nullptr, "");
    return false;
  }
  const bool is_open = head.path == "/health" || !is_of_openai(head.path);  // LibreTranslate's bodies have the key
  if (is_open || takes_key(key.compare(0, 7, "Bearer ") == 0 ? key.substr(7) : "")) return true;
  fail(401, "the request has no key of this server; send Authorization: Bearer KEY");
  return false;
}

void HttpProtocol::choose_handler() {
  const HttpHead& head = reader_.head;
  const std::string& path = head.path;
  reader_.most_body = kMostOtherBody;
  const auto fixed = [this](const json& body) { handler_ = std::make_unique<FixedHandler>(200, body); };
  const bool is_speech = path == "/v1/audio/transcriptions" || path == "/v1/audio/translations";
  const char* const wanted = is_speech || path == "/translate" || path == "/detect" ? "POST" : "GET";
  if (is_speech) {
    handler_ = transcription_handler(head, path == "/v1/audio/translations");
    reader_.most_body = service_.arguments.max_upload;
  } else if (path == "/translate") {
    handler_ = translation_handler(head);
  } else if (path == "/v1/models") {
    fixed(models_of(service_));
  } else if (path == "/health") {
    fixed({{"status", "ok"}});
  } else if (path == "/languages") {
    fixed(translation_languages(service_));
  } else if (path == "/frontend/settings") {
    fixed(settings_of(service_));
  } else if (path == "/detect") {
    handler_ = std::make_unique<FixedHandler>(
        501, json{{"error", "goldcrest-serve has no model that detects languages; send the source's code"}});
  } else {
    return fail(404,
        "there is no such path; this server has /v1/audio/transcriptions, /v1/audio/translations, "
        "/v1/models, /translate, /languages, /frontend/settings and /health");
  }
  if (head.method == wanted) return;
  handler_.reset();
  fail(405, "this path takes " + std::string(wanted));
}

std::string HttpProtocol::head_of(int status, const char* type) const {
  std::string head = "HTTP/1.1 " + std::to_string(status) + (status < 400 ? " OK\r\n" : " Error\r\n");
  if (type != nullptr) head += std::string("Content-Type: ") + type + "\r\n";
  const std::string origin = reader_.head.header("origin");
  if (!origin.empty() && status != 403)
    head += "Access-Control-Allow-Origin: " + origin +
            "\r\nVary: Origin\r\nAccess-Control-Allow-Methods: GET, POST\r\n"
            "Access-Control-Allow-Headers: Authorization, Content-Type\r\n";
  if (status == 405) head += "Allow: GET, POST\r\n";
  if (status == 503) head += "Retry-After: 1\r\n";
  const bool closes = is_over_ || !reader_.is_done || !reader_.head.keeps_alive || service_.loop.is_stopping();
  return head + (closes ? "Connection: close\r\n" : "");
}

void HttpProtocol::answer(int status, const char* type, std::string_view body) {
  const std::string length = status == 204 ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
  client_->write(head_of(status, type) + length + "\r\n");
  client_->write(body);
  finish_request();
}

void HttpProtocol::answer_json(int status, const json& body) { answer(status, "application/json", dumped(body)); }

void HttpProtocol::fail(int status, const std::string& why) {
  client_->log(std::to_string(status) + " " + reader_.head.path + ": " + why);
  if (has_events_) {
    send_event({{"type", "error"}, {"error", {{"message", why}}}});
    return end_events();
  }
  if (!is_of_openai(reader_.head.path)) return answer_json(status, {{"error", why}});
  const char* const type = status == 401  ? "authentication_error"
                           : status < 500 ? "invalid_request_error"
                                          : "server_error";
  const json code = status == 401 ? json("invalid_api_key") : json();
  answer_json(status, {{"error", {{"message", why}, {"type", type}, {"param", nullptr}, {"code", code}}}});
}

void HttpProtocol::begin_events() {
  has_events_ = true;
  const bool is_chunked = reader_.head.keeps_alive;
  client_->write(head_of(200, "text/event-stream") + "Cache-Control: no-store\r\n" +
                 (is_chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n"));
}

void HttpProtocol::send_event(const json& event) {
  if (!has_events_) begin_events();
  const std::string text = "data: " + dumped(event) + "\n\n";
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  client_->write(reader_.head.keeps_alive ? size + text + "\r\n" : text);
}

std::function<void(const json& event)> HttpProtocol::event_sender() {
  return [weak = client_->weak_from_this(), loop = &service_.loop, n = n_requests_](const json& event) {
    loop->post([=] {
      const std::shared_ptr<Connection> it = weak.lock();
      if (!it || it->is_finishing()) return;
      auto& http = static_cast<HttpProtocol&>(it->protocol());
      http.client_ = it.get();
      if (http.n_requests_ == n) http.send_event(event);
    });
  };
}

void HttpProtocol::end_events() {
  if (reader_.head.keeps_alive) client_->write("0\r\n\r\n");
  finish_request();
}

// The answer is written. Makes ready for the next request.
void HttpProtocol::finish_request() {
  ++n_requests_;
  const bool is_whole = reader_.is_done, keeps = is_whole && reader_.head.keeps_alive;
  is_busy_ = has_events_ = is_begun_ = false;
  service_.loop.post([old = std::shared_ptr<HttpHandler>(std::move(handler_))] {});  // it may be the caller
  if (!keeps || is_over_ || has_ended_ || service_.loop.is_stopping()) {
    is_over_ = true;
    return is_whole ? client_->finish() : client_->finish_gently();
  }
  reader_ = HttpReader();
  client_->set_deadline(kMostIdleSeconds);
  client_->resume();
}

void HttpProtocol::end(Connection& client) {
  has_ended_ = true;
  if (!is_busy_) client.finish();
}

void HttpProtocol::refuse(Connection& client, const std::string& why) {
  client_ = &client;
  if (is_over_ || (!reader_.is_begun() && n_requests_ > 0)) return client.finish();
  is_over_ = true;
  fail(503, why);
}

ProtocolMaker http_protocol(Service& service) {
  return [&service] { return std::make_unique<HttpProtocol>(service); };
}
