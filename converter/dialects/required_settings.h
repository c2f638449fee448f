// SPDX-License-Identifier: Apache-2.0
// All that a config.json lacks in one message.
#pragma once

#include <string>
#include <vector>

#include "dialects/config.h"

namespace goldcrest::converter {

class RequiredSettings {
 public:
  // `known`: every setting that there is, for guesses.
  RequiredSettings(const Config& config, std::vector<std::string> known);

  void missing(const std::string& key, const std::string& expected);
  void require(const std::string& key, const std::string& expected) {
    if (!config_.has(key)) missing(key, expected);
  }
  // Of an object inside the config, whose settings are called NAME.KEY.
  void add(const std::string& name, const RequiredSettings& object);

  // Throws one Error that names all of them, one a line where there are several, and the settings that are not known
  // and resemble one that is.
  void check() const;

 private:
  struct Missing {
    std::string key, expected;
    bool is_null;
  };

  // ""scale_embeding" is not known; did you mean "scale_embedding"?" for each key that resembles a setting.
  std::vector<std::string> guesses() const;

  const Config& config_;
  std::vector<std::string> known_;
  std::vector<Missing> missing_;
  std::vector<std::string> of_objects_;  // their guesses
};

}  // namespace goldcrest::converter
