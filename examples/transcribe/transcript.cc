// SPDX-License-Identifier: Apache-2.0
#include "transcript.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include "host/printable.h"
#include "host/speech/recordings.h"

namespace {
using Json = nlohmann::ordered_json;

double rounded(double number, double scale) { return std::round(number * scale) / scale; }

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
  for (const auto& [from, to] : kEscapes)
    for (size_t at = 0; (at = text.find(from, at)) != text.npos;) text.replace(at, from.size(), to);
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
  return arguments_.keep_controls ? text : goldcrest::single_line(text, true);
}

void Transcript::show_partial(uint64_t begin, const std::string& text) {
  constexpr size_t kMostShown = 72;
  if (format_ == Format::kJson)
    print_json({{"start", static_cast<double>(begin) / sample_rate_}, {"partial", true}, {"text", text}});
  else if (rewrites_) std::printf("\r%s\033[K", tail_of(line(text), kMostShown).c_str());
  else std::printf("... %s\n", line(text).c_str());
  std::fflush(stdout);
}

double Transcript::seconds(uint64_t sample) const {
  return static_cast<double>(sample + (format_ != Format::kJson ? n_before_ : 0)) / sample_rate_;
}

Segment Transcript::placed(const Utterance& utterance, const Segment& segment) const {
  Segment shown = goldcrest::host::placed(segment, utterance, seconds(0), sample_rate_);
  shown.text = line(segment.text);
  for (goldcrest::host::TimedWord& word : shown.words) word.text = line(word.text);
  return shown;
}

void Transcript::print_subtitles(const Segment& segment, double earliest, double latest) {
  const bool is_vtt = format_ == Format::kVtt;
  earliest = std::max(earliest, subtitles_end_);
  for (const Subtitle& it : make_subtitles(segment.words, arguments_.subtitles, earliest, latest)) {
    if (is_vtt && n_subtitles_ == 0) print("WEBVTT\n\n");
    print(printed_subtitle(it, ++n_subtitles_, is_vtt));
    subtitles_end_ = it.end;
  }
}

void Transcript::print_object(const std::string& clip, const Segment& segment, const Transcription& made) {
  Json object = {{"clip", clip}, {"start", rounded(segment.begin, 1e5)}, {"end", rounded(segment.end, 1e5)},
      {"text", segment.text}, {"tokens", segment.tokens}, {"cut", !made.cut.empty()},
      {"avg_logprob", rounded(made.avg_logprob, 1e4)}, {"temperature", made.temperature},
      {"uncertain", made.uncertain}};
  if (!made.language.empty()) object["language"] = made.language;
  if (made.language_probability >= 0) object["language_probability"] = rounded(made.language_probability, 1e4);
  if (made.no_speech >= 0) object["no_speech_prob"] = rounded(made.no_speech, 1e4);
  if (arguments_.words) {
    object["words"] = Json::array();
    for (const goldcrest::host::TimedWord& word : segment.words) {
      object["words"].push_back({{"word", word.text}, {"start", rounded(word.begin, 1e5)},
          {"end", rounded(word.end, 1e5)}, {"probability", rounded(word.probability, 1e4)}});
    }
  }
  print_json(object);
}

// Prints a segment as text.
void Transcript::print_segment(const std::string& clip, const Segment& segment) {
  const auto print_timed = [](double begin, double end, const std::string& text) {
    std::printf("[%.2f --> %.2f] ", begin, end);
    print(text + "\n");
  };
  if (arguments_.words) {
    for (const goldcrest::host::TimedWord& word : segment.words) {
      char sure[16];
      std::snprintf(sure, sizeof sure, " (%.2f)", word.probability);
      print_timed(word.begin, word.end, word.text.substr(word.text[0] == ' ' ? 1 : 0) + sure);
    }
  } else if (format_ == Format::kTimestamps) {
    print_timed(segment.begin, segment.end, segment.text);
  } else if (clip.empty()) {
    print(segment.text + "\n");
  } else {
    line_ += (line_.empty() || segment.text.empty() ? "" : " ") + segment.text;
  }
}

void Transcript::add(const std::string& clip, const Utterance& utterance, const Transcription& made) {
  if (rewrites_ && format_ != Format::kJson) std::printf("\r\033[K");
  for (size_t i = 0; i < made.segments.size(); ++i) {
    const Segment segment = placed(utterance, made.segments[i]);
    if (format_ == Format::kJson) {
      print_object(clip, segment, made);
    } else if (format_ == Format::kSrt || format_ == Format::kVtt) {
      // Subtitles may be shown until the next segment.
      const bool is_last = i + 1 == made.segments.size();
      print_subtitles(segment, seconds(utterance.begin),
          is_last ? seconds(utterance.begin + made.n_heard) : placed(utterance, made.segments[i + 1]).begin);
    } else {
      print_segment(clip, segment);
    }
  }
  std::fflush(stdout);
}

void Transcript::end_clip(const std::string& clip, uint64_t n) {
  if (format_ == Format::kText && !clip.empty() && !arguments_.words) print(line_ + "\n");
  line_.clear();
  n_before_ += n;
}
