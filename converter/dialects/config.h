// SPDX-License-Identifier: Apache-2.0
// Settings of a config.json, with checks of type and range. Remembers which settings were read, and collects the
// missing ones for one message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

class Config {
 public:
  explicit Config(const std::filesystem::path& path);
  // An object inside a config; `where` begins messages.
  Config(Value object, std::string where, std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::string where(const std::string& key) const;  // "config.json: setting "d_model"", for messages
  // True if the setting is present and not null.
  bool has(const std::string& key) const { return find(key) != nullptr; }
  // Returns null if the setting is absent; marks it as read.
  const Value* find(const std::string& key) const;

  // Each throws Error on another type or a value outside the range; the first form also if the setting is absent.
  uint32_t count(const std::string& key, uint32_t least, uint32_t most) const;
  uint32_t count_or(const std::string& key, uint32_t fallback, uint32_t least, uint32_t most) const;
  std::optional<uint32_t> optional_count(const std::string& key, uint32_t least, uint32_t most) const;
  bool flag(const std::string& key) const;
  bool flag_or(const std::string& key, bool fallback) const;
  double number_or(const std::string& key, double fallback, double least, double most) const;
  std::string text(const std::string& key) const;
  std::string text_or(const std::string& key, const std::string& fallback) const;
  Config object_or_empty(const std::string& key) const;
  // Returns the path of the file that the setting names, next to this config or below. Throws Error if there is no such
  // file.
  std::filesystem::path file(const std::string& key) const;

  // All settings except the notes of --print-config, whose keys are KEY?.
  std::vector<std::string> keys() const;
  // Settings that nothing has read.
  std::vector<std::string> unread() const;
  // Settings that are null and still have their note: the user has not filled them in.
  std::vector<std::string> unanswered() const;
 private:
  const Value& require(const std::string& key) const;

  Value json_;
  std::string where_;
  std::filesystem::path path_;
  mutable std::set<std::string> read_;
};

// Reads "early_stopping": false (the default), true or "never". Throws Error on any other value.
goldcrest_early_stopping read_early_stopping(const Config& config);

class RequiredSettings {
 public:
  // `known` lists every possible setting, for guesses.
  RequiredSettings(const Config& config, std::vector<std::string> known);

  void missing(const std::string& key, const std::string& expected);
  void require(const std::string& key, const std::string& expected) {
    if (!config_.has(key)) missing(key, expected);
  }
  // Adds the missing settings of an object inside the config; the message calls them NAME.KEY.
  void add(const std::string& name, const RequiredSettings& object);

  // Throws one Error that names all missing settings, each on a line of its own if there are several. It also names
  // unknown settings that resemble a known one.
  void check() const;
 private:
  struct Missing {
    std::string key, expected;
    bool is_null;
  };

  // Returns ""scale_embeding" is not known; did you mean "scale_embedding"?" for each such key.
  std::vector<std::string> guesses() const;

  const Config& config_;
  std::vector<std::string> known_;
  std::vector<Missing> missing_;
  std::vector<std::string> of_objects_;  // guesses of the added objects
};
}  // namespace goldcrest::converter
