// SPDX-License-Identifier: Apache-2.0
// An ffmpeg that converts a clip, and what it writes.
#pragma once

#include <sys/types.h>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace goldcrest::host {
class Ffmpeg {
 public:
  // Starts it for a file; an empty name is standard input, read from its begin. Returns the reason of a failure, or "".
  std::string start(const std::string& name, uint32_t sample_rate);
  // Starts it for a file of a stranger's, which is open and can seek: such a file names no others that ffmpeg reads.
  std::string start_untrusted(std::FILE* file, uint32_t sample_rate);

  std::FILE* output() const { return output_.get(); }

  // Ends it. Returns what it failed with, or "".
  std::string finish();
 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string spawn(std::vector<std::string> arguments, int input);

  pid_t child_ = -1;
  std::unique_ptr<std::FILE, CloseFile> output_;
};
}  // namespace goldcrest::host
