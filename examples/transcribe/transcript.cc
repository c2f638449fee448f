// SPDX-License-Identifier: Apache-2.0
#include "transcript.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "host/printable.h"

namespace {

using Json = nlohmann::ordered_json;

// Returns 00:00:01,250 for a subtitle.
std::string subtitle_time(double seconds) {
  const uint64_t ms = static_cast<uint64_t>(seconds * 1000 + 0.5);
  char text[40];
  std::snprintf(text, sizeof(text), "%02llu:%02llu:%02llu,%03llu", static_cast<unsigned long long>(ms / 3600000),
                static_cast<unsigned long long>(ms / 60000 % 60), static_cast<unsigned long long>(ms / 1000 % 60),
                static_cast<unsigned long long>(ms % 1000));
  return text;
}

bool is_inside_character(const std::string& text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// Returns at most the last n bytes of a text, so that it fits on a line of a terminal.
std::string tail_of(const std::string& text, size_t n) {
  if (text.size() <= n) return text;
  size_t at = text.size() - n;
  while (is_inside_character(text, at)) ++at;
  return "..." + text.substr(at);
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Prints one line. JSON needs no escapes for DEL and the separators of lines, but programs that split lines do.
void print_json(const Json& object) {
  std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  constexpr std::pair<std::string_view, const char*> kEscapes[] = {
      {"\x7f", "\\u007f"}, {"\xc2\x85", "\\u0085"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}};
  for (const auto& [from, to] : kEscapes) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos;) text.replace(at, from.size(), to);
  }
  print(text);
}

}  // namespace

std::string agreed_words(const std::string& a, const std::string& b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  size_t n = static_cast<size_t>(ends.first - a.begin());
  if (n == a.size() && n == b.size()) return a;
  const auto is_end_of_word = [&](const std::string& text) { return n == text.size() || text[n] == ' '; };
  if (a.find(' ') == a.npos && b.find(' ') == b.npos) {
    while (n > 0 && (is_inside_character(a, n) || is_inside_character(b, n))) --n;
  } else if (!is_end_of_word(a) || !is_end_of_word(b)) {
    const size_t space = n == 0 ? a.npos : a.rfind(' ', n - 1);
    n = space == a.npos ? 0 : space;
  }
  return a.substr(0, n);
}

// Returns the text as the program prints it in a line.
std::string Transcript::line(const std::string& text) const {
  return keeps_controls_ ? text : goldcrest::single_line(text, true);
}

void Transcript::show_partial(uint64_t begin, const std::string& text) {
  constexpr size_t kMostShown = 72;
  if (format_ == Format::kJson) {
    print_json({{"begin", static_cast<double>(begin) / sample_rate_}, {"partial", true}, {"text", text}});
  } else if (rewrites_) {
    std::printf("\r%s\033[K", tail_of(line(text), kMostShown).c_str());
  } else {
    std::printf("... %s\n", line(text).c_str());
  }
  std::fflush(stdout);
}

void Transcript::add(const std::string& clip, const Heard& heard) {
  const std::string& text = heard.made.text;
  const uint64_t before = format_ != Format::kJson ? n_before_ : 0;
  const double first = static_cast<double>(before + heard.begin) / sample_rate_;
  const double last = static_cast<double>(before + heard.end) / sample_rate_;
  const std::string shown = line(text);
  if (rewrites_ && format_ != Format::kJson) std::printf("\r\033[K");
  switch (format_) {
    case Format::kText:
      if (clip.empty()) {
        print(shown + "\n");
      } else {
        line_ += (line_.empty() || text.empty() ? "" : " ") + shown;
      }
      break;
    case Format::kTimestamps:
      std::printf("[%.2f --> %.2f] ", first, last);
      print(shown + "\n");
      break;
    case Format::kSrt:
      std::printf("%llu\n%s --> %s\n", static_cast<unsigned long long>(++n_subtitles_), subtitle_time(first).c_str(),
                  subtitle_time(last).c_str());
      print(shown + "\n\n");
      break;
    case Format::kJson:
      print_json({{"clip", clip},
                  {"begin", first},
                  {"end", last},
                  {"text", text},
                  {"cut", !heard.made.cut.empty()},
                  {"avg_logprob", std::round(heard.made.avg_logprob * 1e4) / 1e4},
                  {"temperature", heard.made.temperature},
                  {"uncertain", heard.made.uncertain}});
      break;
  }
  std::fflush(stdout);
}

void Transcript::end_clip(const std::string& clip, uint64_t n) {
  if (format_ == Format::kText && !clip.empty()) print(line_ + "\n");
  line_.clear();
  n_before_ += n;
}
