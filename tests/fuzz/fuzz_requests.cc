// SPDX-License-Identifier: Apache-2.0
// Any bytes as HTTP requests with forms, or as Wyoming's events: what is read does not depend on how the bytes come,
// and nothing larger than its limit is collected.
#include "fuzz/script.h"
#include "serve/http_messages.h"
#include "serve/wyoming_events.h"

namespace goldcrest::test {
namespace {
// Gives a reader all bytes, `step` at a time, with what it left before. Returns what is left.
template <typename Take> void feed(std::string_view bytes, size_t step, const Take& take) {
  std::string waiting;
  for (size_t at = 0; at < bytes.size(); at += step) {
    waiting.append(bytes.substr(at, step));
    for (size_t used = 1; used > 0 && !waiting.empty();) {
      used = take(std::string_view(waiting));
      require(used <= waiting.size(), "a reader uses only bytes that it has");
      waiting.erase(0, used);
    }
  }
}

// Returns what a request says, as text.
std::string read_request(std::string_view bytes, size_t step) {
  std::string said;
  HttpReader reader;
  reader.most_body = 512;
  std::unique_ptr<MultipartReader> form;
  feed(bytes, step, [&](std::string_view some) {
    if (reader.is_done || reader.status != 0) return size_t{0};
    const bool had_head = reader.has_head;
    const size_t used = reader.take(some);
    if (had_head || !reader.has_head) return used;
    for (const auto& [name, value] : reader.head.headers) said += name + "=" + value + "\n";
    form = std::make_unique<MultipartReader>(
        reader.head.header("content-type"),
        [&](const std::string& name, const std::string& file) {
          said += "\npart " + name + "," + file + ":";
          return true;
        },
        [&](std::string_view data) {
          said += data;
          return true;
        });
    reader.body = [&](std::string_view data) { return form->take(data); };
    return used;
  });
  said += "\n" + std::to_string(reader.status) + reader.problem + (reader.is_done ? "done" : "");
  return form ? said + form->problem() + (form->is_done() ? "whole" : "") : said;
}

std::string read_events(std::string_view bytes, size_t step) {
  std::string said;
  WyomingReader reader;
  feed(bytes, step, [&](std::string_view some) {
    const size_t used = reader.problem.empty() ? reader.take(some) : 0;
    if (reader.is_ready)
      said += reader.event.type + reader.event.data.dump(-1, ' ', true, Json::error_handler_t::replace) +
              reader.event.payload + "\n";
    if (reader.is_ready) reader.event.number("rate", 0), reader.event.text("text");
    reader.is_ready = false;
    return used;
  });
  return said + reader.problem;
}
}  // namespace

void run_input(Script script) {
  const uint32_t kind = script.below(3);
  const size_t step = 1 + script.below(64);
  const std::string_view rest = script.rest();
  const auto read = kind == 0 ? read_request : read_events;
  if (kind == 2) read_form(rest);
  else require(read(rest, step) == read(rest, rest.size() + 1), "the bytes may come in any parts");
}
}  // namespace goldcrest::test
