// SPDX-License-Identifier: Apache-2.0
#include "host/speech/phrases.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include "host/model_texts.h"
#include "host/text_lines.h"
#include "host/wording.h"

namespace {
// Changes the case of the character that begins at `at`: ASCII, Latin-1, Greek or Cyrillic.
void change_case(std::string* text, size_t at, bool upper) {
  const auto lead = static_cast<uint8_t>((*text)[at]);
  if (lead < 0x80) (*text)[at] = static_cast<char>(upper ? std::toupper(lead) : std::tolower(lead));
  if ((lead & 0xE0) != 0xC0 || at + 1 == text->size()) return;
  const unsigned character = (lead & 0x1Fu) << 6 | (static_cast<uint8_t>((*text)[at + 1]) & 0x3Fu);
  constexpr unsigned kCapitals[][3] = {
      {0xC0, 0xDE, 0x20}, {0x391, 0x3A9, 0x20}, {0x410, 0x42F, 0x20}, {0x400, 0x40F, 0x50}};
  for (const auto& [first, last, distance] : kCapitals) {
    const unsigned shift = upper ? distance : 0;
    if (character < first + shift || character > last + shift || (character | 0x20) == 0xF7) continue;
    const unsigned other = upper ? character - distance : character + distance;
    (*text)[at] = static_cast<char>(0xC0 | other >> 6);
    (*text)[at + 1] = static_cast<char>(0x80 | (other & 0x3F));
    return;
  }
}

constexpr size_t kCases = 4, kSentences = 2;  // spellings, first those with a capital; each is repeated
constexpr size_t kMarks = 3;                  // with these marks, then without

// Returns a phrase as models write it: those of sentences first.
std::vector<std::string> spellings(const std::string& phrase) {
  std::string low = phrase;
  for (size_t i = 0; i < low.size(); ++i) change_case(&low, i, false);
  std::vector<std::string> bare = {phrase, low, phrase, low}, all;
  for (size_t i = 0; i < kSentences; ++i) change_case(&bare[i], 0, true);
  for (const char* mark : {".", "?", "!", ""})
    for (const std::string& spelling : bare) all.push_back(spelling + mark);
  return all;
}
}  // namespace

std::string visit_spellings(const std::string& line, const TextCutter& cutter, const goldcrest::Session& session,
    const std::function<void(const Spelling&)>& visit) {
  const bool has_space = session.traits().target_adds_space != 0;
  std::string problem = text_problem(line);
  const std::vector<std::string> all = problem.empty() ? spellings(line) : std::vector<std::string>();
  for (size_t i = 0; i < all.size() && problem.empty(); ++i) {
    Spelling it = {line, all[i], {}, {}, i / kCases < kMarks, i % kCases < kSentences};
    problem = cutter.cut_by_merges((has_space ? "" : " ") + it.text, &it.ids);
    if (problem.empty() && !has_space) problem = cutter.cut_by_merges(it.text, &it.ids_without_space);
    if (problem.empty()) visit(it);
  }
  return problem;
}

std::string read_spellings(
    const std::string& path, const goldcrest::Session& session, const std::function<void(const Spelling&)>& visit) {
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const auto unread = [&] { return path + ": cannot be read: " + std::strerror(errno); };
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return unread();
  const TextCutter cutter(session);
  std::string line;
  bool is_empty = true;
  for (size_t number = 1; read_line(file.get(), &line); ++number) {
    if (is_blank(line)) continue;
    is_empty = false;
    const std::string problem = visit_spellings(line, cutter, session, visit);
    if (!problem.empty()) return path + ": line " + std::to_string(number) + ": " + problem;
  }
  if (std::ferror(file.get()) != 0) return unread();
  return is_empty ? path + ": is empty; expected one text a line" : "";
}

std::string Phrases::read(const std::string& path, const goldcrest::Session& session) {
  std::vector<std::vector<int32_t>> entries;
  const std::string problem = read_spellings(path, session, [&](const Spelling& it) {
    entries.push_back(it.ids);
    phrases_.emplace(it.ids, it.line);
    if (it.is_sentence && it.has_mark && it.text.back() != '!') sentences_.emplace(it.text, it.ids);
  });
  if (problem.empty()) lexicon_ = goldcrest::make_lexicon(std::move(entries), false);
  return problem;
}

std::vector<std::vector<int32_t>> Phrases::nearest(const std::string& text) const {
  constexpr size_t kMost = 6;
  std::vector<std::pair<size_t, const std::vector<int32_t>*>> found;
  for (const auto& [sentence, ids] : sentences_) found.emplace_back(goldcrest::edit_distance(text, sentence), &ids);
  const size_t n = std::min(kMost, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n), found.end());
  std::vector<std::vector<int32_t>> nearest;
  for (size_t i = 0; i < n; ++i) nearest.push_back(*found[i].second);
  return nearest;
}

std::string Phrases::spelled(const std::vector<int32_t>& ids) const {
  const auto found = phrases_.find(ids);
  return found == phrases_.end() ? "" : found->second;
}
