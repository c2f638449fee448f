// SPDX-License-Identifier: Apache-2.0
// Settings of a config.json, typed and range-checked; remembers which were read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sources/values/value.h"

namespace goldcrest::converter {

class Config {
 public:
  explicit Config(const std::filesystem::path& path);
  // An object inside a config; `where` begins messages.
  Config(Value object, std::string where, std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::string where(const std::string& key) const;  // "config.json: setting "d_model"", for messages
  // Present and not null.
  bool has(const std::string& key) const { return find(key) != nullptr; }
  // Null when absent; marks the setting as read.
  const Value* find(const std::string& key) const;

  // Each throws Error on another type or a value outside of the range; the first form also when it is absent.
  uint32_t count(const std::string& key, uint32_t least, uint32_t most) const;
  uint32_t count_or(const std::string& key, uint32_t fallback, uint32_t least, uint32_t most) const;
  std::optional<uint32_t> optional_count(const std::string& key, uint32_t least, uint32_t most) const;
  bool flag(const std::string& key) const;
  bool flag_or(const std::string& key, bool fallback) const;
  double number_or(const std::string& key, double fallback, double least, double most) const;
  std::string text(const std::string& key) const;
  std::string text_or(const std::string& key, const std::string& fallback) const;
  Config object_or_empty(const std::string& key) const;
  // The setting as the path of a file that lies beside this one, or below. Throws Error where there is none.
  std::filesystem::path file(const std::string& key) const;

  // All settings but the notes of --print-config, which are called KEY?.
  std::vector<std::string> keys() const;
  // Settings that nothing has asked for.
  std::vector<std::string> unread() const;
  // Those that are null and have a note beside them: nobody has answered it.
  std::vector<std::string> unanswered() const;

 private:
  const Value& require(const std::string& key) const;

  Value json_;
  std::string where_;
  std::filesystem::path path_;
  mutable std::set<std::string> read_;
};

}  // namespace goldcrest::converter
