// SPDX-License-Identifier: Apache-2.0
// Serves HTTP: OpenAI's API for speech, and LibreTranslate's for texts.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include "http_messages.h"
#include "loop.h"
#include "models.h"
#include "serve.h"

class HttpProtocol;

// Takes the body of a request, and answers it.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Takes bytes of the body. Returns false after error().
  virtual bool take(std::string_view bytes) = 0;
  // The body is whole.
  virtual void finish(HttpProtocol& http) = 0;

  struct Error {
    int status = 400;
    std::string text = {};
  };
  const Error& error() const { return error_; }
 protected:
  bool fail(int status, std::string text) {
    error_ = {status, std::move(text)};
    return false;
  }
  Error error_;
};

std::unique_ptr<HttpHandler> transcription_handler(const HttpHead& head, bool translates);
std::unique_ptr<HttpHandler> translation_handler(const HttpHead& head);
nlohmann::json translation_languages(const Service& service);

class HttpProtocol : public Protocol {
 public:
  explicit HttpProtocol(Service& service) : service_(service) {}

  size_t take(Connection& client, std::string_view bytes) override;
  void end(Connection& client) override;
  void refuse(Connection& client, const std::string& why) override;
  bool is_busy() const override { return is_busy_; }

  Service& service() { return service_; }
  Connection& client() { return *client_; }
  // Answers the request.
  void answer(int status, const char* type, std::string_view body);
  void answer_json(int status, const nlohmann::json& body);
  // Answers with an error in the form of the path's API.
  void fail(int status, const std::string& why);
  // Answers with events as they come.
  void send_event(const nlohmann::json& event);
  // Returns what sends events of this request from any thread.
  std::function<void(const nlohmann::json& event)> event_sender();
  void end_events();
  // Returns whether this key may be used, or none is needed.
  bool takes_key(const std::string& key) const;

  // Lets a worker do a job. `done` then gets its result here, if the request is still the same.
  template <typename Result, typename Done> void work(Worker& worker, std::function<Result()> job, Done done) {
    const auto finished = [done, n = n_requests_](Connection& it, Result& result) {
      auto& http = static_cast<HttpProtocol&>(it.protocol());
      http.client_ = &it;
      if (http.n_requests_ == n) done(http, result);
    };
    if (!work_for<Result>(client(), worker, std::move(job), finished))
      fail(503, "too many requests wait; try again later");
  }
 private:
  void begin();
  void begin_events();
  bool is_allowed();
  void choose_handler();
  void finish_request();
  std::string head_of(int status, const char* type) const;

  Service& service_;
  Connection* client_ = nullptr;  // the current call's
  HttpReader reader_;
  std::unique_ptr<HttpHandler> handler_;
  bool is_begun_ = false, is_busy_ = false, has_ended_ = false, has_events_ = false, is_over_ = false;
  uint64_t n_requests_ = 0;
};

ProtocolMaker http_protocol(Service& service);
