// SPDX-License-Identifier: Apache-2.0
// Runs the real programs as a user does: arguments in, exit status and both outputs out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::test {

using Arguments = std::vector<std::string>;

struct Outcome {
  int status = -1;  // the exit status; 128 + n when signal n ended the program
  std::string out, err;
  double cpu_seconds = 0;
  uint64_t most_bytes = 0;  // of memory that it had at a time
};

enum class Output { kCaptured, kFull, kClosed };  // kFull: a device without space

constexpr unsigned kMaxSeconds = 300;

struct RunOptions {
  std::string input = {};
  std::filesystem::path folder = {};  // to run in; empty: the test's own
  Output output = Output::kCaptured, error = Output::kCaptured;
  unsigned max_seconds = kMaxSeconds;
  unsigned max_cpu_seconds = 0;    // 0: no limit; SIGXCPU ends what takes more
  uint64_t max_address_bytes = 0;  // 0: no limit; more is not given
};

// A program that takes more than its seconds is ended by SIGALRM. Throws std::runtime_error when it cannot be started.
Outcome run(const std::filesystem::path& program, const Arguments& arguments, const RunOptions& how = {});

// A program that is talked to line by line through pipes.
class Dialogue {
 public:
  Dialogue(const std::filesystem::path& program, const Arguments& arguments);
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  void write(std::string_view text);
  // The next line, without its end. Throws std::runtime_error when none comes.
  std::string read_line();
  // Ends the program's input and returns its exit status.
  int finish();

 private:
  pid_t child_ = -1;
  int input_ = -1, output_ = -1;
};

// The lines of a text that ends with a newline, or is empty.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace goldcrest::test
