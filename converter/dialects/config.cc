// SPDX-License-Identifier: Apache-2.0
// Settings of a config.json, with checks of type and range. Remembers which settings were read.
#include "dialects/config.h"
#include <algorithm>
#include <iterator>
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "spec/spec.h"

namespace goldcrest::converter {
namespace {
std::string shown(const Value& value) {
  return value.is_list() || value.is_map() ? std::string("a JSON ") + value.type_name() : in_quotes(write_json(value));
}

uint32_t to_count(const Value& value, const std::string& where, uint32_t least, uint32_t most) {
  if (!value.is_natural() || value.natural() < least || value.natural() > most)
    throw Error("{} is {}, expected an integer from {} to {}", where, shown(value), least, most);
  return static_cast<uint32_t>(value.natural());
}
}  // namespace

Config::Config(const std::filesystem::path& path) : Config(read_json_object(path), path.string(), path) {}

Config::Config(Value object, std::string where, std::filesystem::path path)
    : json_(std::move(object)), where_(std::move(where)), path_(std::move(path)) {}

std::string Config::where(const std::string& key) const {
  return format_text("{}: setting {}", where_, in_quotes(key));
}

const Value* Config::find(const std::string& key) const {
  const Value* const found = json_.find(key);
  if (found == nullptr) return nullptr;
  read_.insert(key);
  return found->is_null() ? nullptr : found;
}

const Value& Config::require(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) throw Error("{} is missing", where(key));
  return *value;
}

uint32_t Config::count(const std::string& key, uint32_t least, uint32_t most) const {
  return to_count(require(key), where(key), least, most);
}

uint32_t Config::count_or(const std::string& key, uint32_t fallback, uint32_t least, uint32_t most) const {
  return optional_count(key, least, most).value_or(fallback);
}

std::optional<uint32_t> Config::optional_count(const std::string& key, uint32_t least, uint32_t most) const {
  const Value* value = find(key);
  return value == nullptr ? std::nullopt : std::optional(to_count(*value, where(key), least, most));
}

bool Config::flag(const std::string& key) const {
  const Value& value = require(key);
  if (!value.is_flag()) throw Error("{} is {}, expected true or false", where(key), shown(value));
  return value.flag();
}

bool Config::flag_or(const std::string& key, bool fallback) const { return has(key) ? flag(key) : fallback; }

double Config::number_or(const std::string& key, double fallback, double least, double most) const {
  const Value* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_number() || !(value->number() >= least && value->number() <= most))
    throw Error("{} is {}, expected a number from {} to {}", where(key), shown(*value), least, most);
  return value->number();
}

std::string Config::text(const std::string& key) const {
  const Value& value = require(key);
  if (!value.is_text()) throw Error("{} is {}, expected a text", where(key), shown(value));
  return value.text();
}

std::string Config::text_or(const std::string& key, const std::string& fallback) const {
  return has(key) ? text(key) : fallback;
}

Config Config::object_or_empty(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return Config(Value::map(), where(key), path_);
  if (!value->is_map()) throw Error("{} is {}, expected an object", where(key), shown(*value));
  return Config(*value, where(key), path_);
}

std::filesystem::path Config::file(const std::string& key) const {
  const std::string name = text(key);
  const std::filesystem::path path(name);
  if (name.empty() || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    throw Error("{} is {}, expected a file in the checkpoint's directory", where(key), in_quotes(name));
  std::filesystem::path whole = path_.parent_path() / path;
  std::error_code error;
  if (!std::filesystem::exists(whole, error)) throw Error("{}: is missing; {} names it", whole.string(), where(key));
  return whole;
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_.members())
    if (!key.ends_with('?')) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<std::string> Config::unread() const {
  std::vector<std::string> keys = this->keys();
  std::erase_if(keys, [&](const std::string& key) { return read_.contains(key); });
  return keys;
}

std::vector<std::string> Config::unanswered() const {
  std::vector<std::string> keys = this->keys();
  std::erase_if(keys, [&](const std::string& key) { return !json_[key].is_null() || !json_.contains(key + "?"); });
  return keys;
}

goldcrest_early_stopping read_early_stopping(const Config& config) {
  const Value* value = config.find("early_stopping");
  if (value == nullptr || *value == false) return GOLDCREST_STOP_LIKELY;
  if (*value == true) return GOLDCREST_STOP_FULL;
  if (*value == "never") return GOLDCREST_STOP_NEVER;
  throw Error("{} is {}, expected true, false or \"never\"", config.where("early_stopping"), write_json(*value));
}

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
  for (const Missing& setting : object.missing_)
    missing_.push_back({name + "." + setting.key, setting.expected, setting.is_null});
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
