// SPDX-License-Identifier: Apache-2.0
// Runs the real programs as a user does: arguments go in, exit status and both outputs come out.
#pragma once

#include <sys/types.h>
#include "support/standard.h"

namespace goldcrest::test {
using Arguments = std::vector<std::string>;

inline Arguments concat(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Outcome {
  int status = -1;  // the exit status; 128 + n when signal n ended the program
  std::string out, err;
  double cpu_seconds = 0;
  uint64_t most_bytes = 0;  // the most memory at any time
};

enum class Output { kCaptured, kFull, kClosed };  // kFull: a device without space

constexpr unsigned kMaxSeconds = 300;

struct RunOptions {
  std::string input = {};
  std::filesystem::path folder = {};  // where the program runs; empty: the test's own folder
  Output output = Output::kCaptured, error = Output::kCaptured;
  unsigned max_seconds = kMaxSeconds;
  unsigned max_cpu_seconds = 0;    // 0: no limit; SIGXCPU ends a program that takes more
  uint64_t max_address_bytes = 0;  // 0: no limit; larger requests fail
};

// Runs a program; SIGALRM ends it if it takes longer than `seconds`. Throws std::runtime_error if it cannot be started.
Outcome run(const std::filesystem::path& program, const Arguments& arguments, const RunOptions& how = {});

// A program that reads and writes line by line through pipes.
class Dialogue {
 public:
  Dialogue(const std::filesystem::path& program, const Arguments& arguments);
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  void write(std::string_view text);
  // Returns the next line without its end. Throws std::runtime_error if none comes.
  std::string read_line();
  // Closes the program's input and returns its exit status, as run does.
  int finish();
  pid_t process() const { return child_; }
 private:
  pid_t child_ = -1;
  int input_ = -1, output_ = -1;
};

// Splits a text that ends with a newline, or is empty, into lines.
std::vector<std::string> lines_of(std::string_view text);
}  // namespace goldcrest::test
