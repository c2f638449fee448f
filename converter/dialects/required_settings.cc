// SPDX-License-Identifier: Apache-2.0
// Collects the missing settings of a config.json for one message.
#include "dialects/required_settings.h"

#include <algorithm>
#include <iterator>

#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// Returns the note that --print-config, or the user, wrote next to a setting.
std::string note(const Config& config, const std::string& key) {
  constexpr size_t kMaxBytes = 200;
  std::string text = config.text_or(key + "?", "").substr(0, kMaxBytes);
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return text;
}

}  // namespace

RequiredSettings::RequiredSettings(const Config& config, std::vector<std::string> known)
    : config_(config), known_(std::move(known)) {
  for (const std::string& key : config.unanswered()) missing_.push_back({key, note(config, key), true});
}

void RequiredSettings::missing(const std::string& key, const std::string& expected) {
  const auto is_key = [&](const Missing& other) { return other.key == key; };
  if (std::none_of(missing_.begin(), missing_.end(), is_key)) missing_.push_back({key, expected, false});
}

void RequiredSettings::add(const std::string& name, const RequiredSettings& object) {
  for (const Missing& setting : object.missing_) {
    missing_.push_back({name + "." + setting.key, setting.expected, setting.is_null});
  }
  std::ranges::move(object.guesses(), std::back_inserter(of_objects_));
}

std::vector<std::string> RequiredSettings::guesses() const {
  constexpr size_t kMaxKeys = 1000, kMaxGuesses = 4;
  const std::vector<std::string> keys = config_.keys();
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(keys.size(), kMaxKeys) && texts.size() < kMaxGuesses; ++i) {
    if (std::find(known_.begin(), known_.end(), keys[i]) != known_.end()) continue;
    const std::string meant = guess(keys[i], known_);
    if (meant.empty()) continue;
    texts.push_back(in_quotes(keys[i]) + " is not known" + meant);
  }
  return texts;
}

void RequiredSettings::check() const {
  constexpr size_t kMostNamed = 16;
  if (missing_.empty()) return;
  const auto state = [](const Missing& setting) { return setting.is_null ? "null" : "missing"; };
  std::vector<std::string> unknown = guesses();
  unknown.insert(unknown.end(), of_objects_.begin(), of_objects_.end());
  const auto unknown_text = [&](const std::string& before) {
    std::string text;
    for (const std::string& guessed : unknown) text += before + guessed;
    return text;
  };
  if (missing_.size() == 1) {
    throw Error("{} is {}; expected {}{}", config_.where(missing_[0].key), state(missing_[0]), missing_[0].expected,
                unknown_text("; "));
  }
  std::string text;
  for (size_t i = 0; i < std::min(missing_.size(), kMostNamed); ++i) {
    text +=
        format_text("\n  {} is {}; expected {}", in_quotes(missing_[i].key), state(missing_[i]), missing_[i].expected);
  }
  if (missing_.size() > kMostNamed) text += format_text("\n  and {} more", missing_.size() - kMostNamed);
  throw Error("{}: {} settings are not set:{}{}", config_.path().string(), missing_.size(), text, unknown_text("\n  "));
}

}  // namespace goldcrest::converter
