// SPDX-License-Identifier: Apache-2.0
#include "wyoming_events.h"
#include <algorithm>

std::string WyomingEvent::text(const char* field) const {
  const auto found = data.find(field);
  return found != data.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t WyomingEvent::number(const char* field, int64_t otherwise) const {
  const auto found = data.find(field);
  return found != data.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

std::string wyoming_bytes(const char* type, const Json& data) {
  const std::string text = data.empty() ? "" : data.dump(-1, ' ', false, Json::error_handler_t::replace);
  Json head = {{"type", type}, {"version", "1.10.0"}};
  if (!text.empty()) head["data_length"] = text.size();
  return head.dump() + "\n" + text;
}

bool WyomingReader::read_length(const Json& head, const char* field, size_t most, size_t* length) {
  *length = 0;
  const auto found = head.find(field);
  if (found == head.end() || found->is_null()) return true;
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most) return false;
  *length = found->get<size_t>();
  return true;
}

bool WyomingReader::read_head() {
  Json head = Json::parse(line_, nullptr, false);
  line_.clear();
  if (!head.is_object() || !head.contains("type") || !head["type"].is_string())
    problem = "an event is no line of JSON with a \"type\"";
  else if (!read_length(head, "data_length", kMostData, &n_data_))
    problem = "an event's data_length is not 0 to " + std::to_string(kMostData);
  else if (!read_length(head, "payload_length", kMostPayload, &n_payload_))
    problem = "an event's payload_length is not 0 to " + std::to_string(kMostPayload);
  if (!problem.empty()) return false;
  event = {head["type"].get<std::string>(), Json::object(), ""};
  if (head.contains("data") && head["data"].is_object()) event.data = std::move(head["data"]);
  has_head_ = true;
  return true;
}

bool WyomingReader::read_data() {
  const Json data = Json::parse(data_, nullptr, false);
  data_.clear();
  n_data_ = 0;
  if (!data.is_object()) problem = "an event's data of data_length bytes is no JSON object";
  if (data.is_object()) event.data.update(data);
  return problem.empty();
}

size_t WyomingReader::take(std::string_view bytes) {
  size_t used = 0;
  is_ready = false;
  while (problem.empty() && !is_ready) {
    const std::string_view rest = bytes.substr(used);
    if (!has_head_) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      if (line_.size() + end > kMostLine) problem = "an event's line has more than 65536 bytes";
      if (!problem.empty()) break;
      line_.append(rest.substr(0, end));
      used += end + (end < rest.size() ? 1 : 0);
      if (end == rest.size() || !read_head()) break;
    } else {
      std::string& part = n_data_ > 0 ? data_ : event.payload;
      const size_t n = std::min(rest.size(), (n_data_ > 0 ? n_data_ : n_payload_) - part.size());
      part.append(rest.substr(0, n));
      used += n;
      if (part.size() < (n_data_ > 0 ? n_data_ : n_payload_) || (n_data_ > 0 && !read_data())) break;
    }
    is_ready = has_head_ && n_data_ == 0 && event.payload.size() == n_payload_;
    if (is_ready) has_head_ = false;
  }
  return used;
}
