// SPDX-License-Identifier: Apache-2.0
#include "host/speech/subtitles.h"
#include <algorithm>
#include <cstdio>
#include <string_view>

namespace {
using goldcrest::host::TimedWord;
using Words = std::vector<TimedWord>;

constexpr double kMostSeconds = 7, kMostCharactersASecond = 20;
constexpr double kLongPause = 1, kPause = 0.3;  // seconds

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Words, from the first to before the last.
struct Part {
  size_t first, last;
};

std::string text_of(const Words& words, Part part) {
  std::string text;
  for (size_t i = part.first; i < part.last; ++i) text += words[i].text;
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

// Returns the words of each line, as many as fit in `width` characters.
std::vector<Part> wrap(const Words& words, Part part, size_t width) {
  std::vector<Part> lines;
  for (size_t i = part.first; i < part.last; ++i) {
    if (lines.empty() || count_characters(text_of(words, {lines.back().first, i + 1})) > width) lines.push_back({i, i});
    lines.back().last = i + 1;
  }
  return lines;
}

// Returns the lines of a part: as few as possible, then as even as possible.
std::string lines_of(const Words& words, Part part, size_t width) {
  const size_t n_lines = wrap(words, part, width).size();
  while (width > 1 && wrap(words, part, width - 1).size() == n_lines) --width;
  std::string text;
  for (const Part& line : wrap(words, part, width)) text += (text.empty() ? "" : "\n") + text_of(words, line);
  return text;
}

// Returns how well a part ends before word i: after a sentence, after a clause or at a pause, else between words.
int break_rank(const Words& words, size_t i) {
  const std::string& before = words[i - 1].text;
  const auto ends_with = [&](std::initializer_list<std::string_view> marks) {
    return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
      return before.size() >= mark.size() && before.compare(before.size() - mark.size(), mark.size(), mark) == 0;
    });
  };
  if (ends_with({".", "?", "!", "\u3002", "\uff1f", "\uff01"})) return 2;
  return ends_with({",", ";", ":", "\uff0c", "\u3001"}) || words[i].begin - words[i - 1].end >= kPause ? 1 : 0;
}

// Returns the longest part that begins at word `first`, or a shorter one that ends better.
Part next_part(const Words& words, size_t first, const SubtitleLimits& limits) {
  const auto fits = [&](size_t last) {
    return words[last - 1].end - words[first].begin <= kMostSeconds &&
           wrap(words, {first, last}, limits.line_width).size() <= limits.n_lines;
  };
  const auto pauses = [&](size_t i) { return words[i].begin - words[i - 1].end >= kLongPause; };
  size_t last = first + 1;
  while (last < words.size() && !pauses(last) && fits(last + 1)) ++last;
  if (last == words.size() || pauses(last)) return {first, last};
  const size_t least = count_characters(text_of(words, {first, last})) / 3;
  size_t best = last;
  for (size_t i = last; i > first && count_characters(text_of(words, {first, i})) >= least; --i)
    if (break_rank(words, i) > break_rank(words, best)) best = i;
  return {first, best};
}

// Returns 00:00:01,250 for a subtitle of SubRip, 00:00:01.250 for one of WebVTT.
std::string subtitle_time(double seconds, char point) {
  const uint64_t ms = static_cast<uint64_t>(seconds * 1000 + 0.5);
  char text[40];
  std::snprintf(text, sizeof(text), "%02llu:%02llu:%02llu%c%03llu", static_cast<unsigned long long>(ms / 3600000),
      static_cast<unsigned long long>(ms / 60000 % 60), static_cast<unsigned long long>(ms / 1000 % 60), point,
      static_cast<unsigned long long>(ms % 1000));
  return text;
}
}  // namespace

std::vector<Subtitle> make_subtitles(const Words& words, const SubtitleLimits& limits, double earliest, double latest) {
  std::vector<Subtitle> subtitles;
  for (size_t first = 0; first < words.size();) {
    const Part part = next_part(words, first, limits);
    subtitles.push_back({lines_of(words, part, limits.line_width), words[part.first].begin, words[part.last - 1].end});
    first = part.last;
  }
  for (size_t i = 0; i < subtitles.size(); ++i) {
    Subtitle& it = subtitles[i];
    const double least = static_cast<double>(count_characters(it.text)) / kMostCharactersASecond;
    const double next = i + 1 < subtitles.size() ? subtitles[i + 1].begin : latest;
    it.end = std::max(it.end, std::min(next, it.begin + least));
    it.begin = std::min(it.begin, std::max(i > 0 ? subtitles[i - 1].end : earliest, it.end - least));
  }
  return subtitles;
}

std::string printed_subtitle(const Subtitle& subtitle, uint64_t number, bool is_vtt) {
  const char point = is_vtt ? '.' : ',';
  std::string text = subtitle.text;
  for (size_t at = 0; is_vtt && (at = text.find_first_of("&<", at)) != text.npos; ++at)
    text.replace(at, 1, text[at] == '&' ? "&amp;" : "&lt;");
  return std::to_string(number) + "\n" + subtitle_time(subtitle.begin, point) + " --> " +
         subtitle_time(subtitle.end, point) + "\n" + text + "\n\n";
}
