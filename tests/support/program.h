// SPDX-License-Identifier: Apache-2.0
// Reads whole files, and turns exceptions of a test program into messages.
#pragma once

#include "support/standard.h"

namespace goldcrest::test {
// Throws std::runtime_error if the file is missing or empty.
inline std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty())
    throw std::runtime_error(path + ": no such file, or empty; `bash tests/run.sh arm` makes golden files");
  return bytes;
}

// Returns what `run` returns, if that is an int; 1 after an exception's message.
template <typename Run> int report_errors(const char* program, Run run) {
  try {
    if constexpr (std::is_void_v<decltype(run())>) run();
    else return run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}
}  // namespace goldcrest::test
