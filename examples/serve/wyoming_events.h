// SPDX-License-Identifier: Apache-2.0
// Wyoming's framing: a line of JSON, then as many bytes of JSON and of payload as it says.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

using Json = nlohmann::json;

struct WyomingEvent {
  std::string type;
  Json data = Json::object();
  std::string payload;

  // Returns a field, or what is given if it is missing or of another type.
  std::string text(const char* field) const;
  int64_t number(const char* field, int64_t otherwise) const;
};

// Returns an event's bytes.
std::string wyoming_bytes(const char* type, const Json& data);

// Reads events of untrusted bytes.
class WyomingReader {
 public:
  static constexpr size_t kMostLine = size_t{1} << 16, kMostData = size_t{1} << 20, kMostPayload = size_t{1} << 20;

  // Takes bytes; returns how many are used. Sets is_ready if `event` is whole, or `problem`, after which it takes none.
  size_t take(std::string_view bytes);

  WyomingEvent event;
  bool is_ready = false;
  std::string problem;
  bool is_between() const { return !has_head_ && line_.empty(); }  // no event has begun
 private:
  bool read_head();
  bool read_data();
  static bool read_length(const Json& head, const char* field, size_t most, size_t* length);

  std::string line_, data_;
  bool has_head_ = false;
  size_t n_data_ = 0, n_payload_ = 0;  // bytes that the head says
};
