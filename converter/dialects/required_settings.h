// SPDX-License-Identifier: Apache-2.0
// Collects the missing settings of a config.json for one message.
#pragma once

#include <string>
#include <vector>

#include "dialects/config.h"

namespace goldcrest::converter {

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
