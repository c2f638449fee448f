// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace goldcrest::converter {

namespace {

constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::stage(const std::string& name) {
  finish();
  stage_ = name;
  if (quiet_) return;
  fmt::print(stderr, "{}{}", stage_, terminal_ ? " ..." : "\n");
  std::fflush(stderr);
}

void Progress::at(size_t done, size_t total) {
  if (quiet_ || !terminal_ || total == 0) return;
  constexpr size_t kWidth = 30;
  const size_t filled = done * kWidth / total;
  fmt::print(stderr, "{}{} [{}{}] {} of {}", kClearLine, stage_, std::string(filled, '#'),
             std::string(kWidth - filled, ' '), done, total);
  std::fflush(stderr);
}

void Progress::finish() {
  if (!stage_.empty() && !quiet_ && terminal_) {
    fmt::print(stderr, "{}", kClearLine);
    std::fflush(stderr);
  }
  stage_.clear();
}

}  // namespace goldcrest::converter
