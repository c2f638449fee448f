// SPDX-License-Identifier: Apache-2.0
// Settings of a config.json, with checks of type and range. Remembers which settings were read.
#include "dialects/config.h"

#include <algorithm>

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
  if (!value.is_natural() || value.natural() < least || value.natural() > most) {
    throw Error("{} is {}, expected an integer from {} to {}", where, shown(value), least, most);
  }
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
  if (!value->is_number() || !(value->number() >= least && value->number() <= most)) {
    throw Error("{} is {}, expected a number from {} to {}", where(key), shown(*value), least, most);
  }
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
  if (name.empty() || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) {
    throw Error("{} is {}, expected a file in the checkpoint's directory", where(key), in_quotes(name));
  }
  std::filesystem::path whole = path_.parent_path() / path;
  std::error_code error;
  if (!std::filesystem::exists(whole, error)) throw Error("{}: is missing; {} names it", whole.string(), where(key));
  return whole;
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_.members()) {
    if (!key.ends_with('?')) keys.push_back(key);
  }
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

EarlyStopping read_early_stopping(const Config& config) {
  const Value* value = config.find("early_stopping");
  if (value == nullptr || *value == false) return EarlyStopping::kLikely;
  if (*value == true) return EarlyStopping::kFull;
  if (*value == "never") return EarlyStopping::kNever;
  throw Error("{} is {}, expected true, false or \"never\"", config.where("early_stopping"), write_json(*value));
}

}  // namespace goldcrest::converter
