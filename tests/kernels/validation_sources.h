// SPDX-License-Identifier: Apache-2.0
// The source lines of a validation file (tests/data) for golden hashes and agreements.
#pragma once

#include "support/standard.h"

namespace goldcrest::test {
constexpr size_t kValidationLines = 50;

// Returns the first column of the first kValidationLines lines, or of all; a source with several references counts
// once. Throws std::runtime_error if the file has fewer lines.
inline std::vector<std::string> read_validation_sources(const std::string& path, bool all) {
  std::ifstream file(path);
  std::vector<std::string> sources;
  for (std::string line; (all || sources.size() < kValidationLines) && std::getline(file, line);) {
    const std::string source = line.substr(0, line.find('\t'));
    if (sources.empty() || sources.back() != source) sources.push_back(source);
  }
  if (sources.size() < kValidationLines)
    throw std::runtime_error(path + ": fewer sources than " + std::to_string(kValidationLines));
  return sources;
}
}  // namespace goldcrest::test
