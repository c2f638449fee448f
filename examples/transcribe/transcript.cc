// SPDX-License-Identifier: Apache-2.0
#include "transcript.h"

#include <cstdio>

#include "sources/values/json_text.h"
#include "sources/values/value.h"

namespace {

// Returns 00:00:01,250 for a subtitle.
std::string subtitle_time(double seconds) {
  const uint64_t ms = static_cast<uint64_t>(seconds * 1000 + 0.5);
  char text[40];
  std::snprintf(text, sizeof(text), "%02llu:%02llu:%02llu,%03llu", static_cast<unsigned long long>(ms / 3600000),
                static_cast<unsigned long long>(ms / 60000 % 60), static_cast<unsigned long long>(ms / 1000 % 60),
                static_cast<unsigned long long>(ms % 1000));
  return text;
}

}  // namespace

void Transcript::add(const std::string& clip, uint64_t begin, size_t n, const std::string& text) {
  const double first = static_cast<double>(begin) / sample_rate_;
  const double last = static_cast<double>(begin + n) / sample_rate_;
  switch (format_) {
    case Format::kText:
      if (clip.empty()) {
        std::printf("%s\n", text.c_str());
      } else {
        line_ += (line_.empty() || text.empty() ? "" : " ") + text;
      }
      break;
    case Format::kTimestamps:
      std::printf("[%.2f --> %.2f] %s\n", first, last, text.c_str());
      break;
    case Format::kSrt:
      std::printf("%llu\n%s --> %s\n%s\n\n", static_cast<unsigned long long>(++n_subtitles_),
                  subtitle_time(first).c_str(), subtitle_time(last).c_str(), text.c_str());
      break;
    case Format::kJson: {
      const goldcrest::converter::Value object = {{"clip", clip}, {"begin", first}, {"end", last}, {"text", text}};
      std::printf("%s\n", goldcrest::converter::write_json(object).c_str());
      break;
    }
  }
  std::fflush(stdout);
}

void Transcript::end_clip(const std::string& clip) {
  if (format_ == Format::kText && !clip.empty()) std::printf("%s\n", line_.c_str());
  line_.clear();
}
