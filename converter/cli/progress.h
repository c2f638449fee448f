// SPDX-License-Identifier: Apache-2.0
// Progress of stages. On a terminal a bar redraws itself. Elsewhere each stage prints a plain line, and another every
// ten seconds if it is long.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace goldcrest::converter {
// The destination of progress, and its clock.
struct ProgressScreen {
  bool terminal = false;
  size_t columns = 80;                         // the terminal's width
  std::function<void(std::string_view)> show;  // empty: shows nothing
  std::function<double()> seconds;             // since any fixed moment
};

// Returns standard error, or nothing if `quiet`.
ProgressScreen standard_error_screen(bool quiet);

class Progress {
 public:
  explicit Progress(ProgressScreen screen) : screen_(std::move(screen)) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Begins a stage and ends the one before.
  void stage(const std::string& name);
  // Reports the progress of the stage.
  void at(size_t done, size_t total);
  // Returns at() as a function that is valid while this object lives.
  std::function<void(size_t done, size_t total)> counter();
  void finish();
 private:
  // Replaces the current line on the terminal.
  void redraw(const std::string& line);

  ProgressScreen screen_;
  std::string stage_, drawn_;
  double last_seconds_ = 0;  // time of the last output
};
}  // namespace goldcrest::converter
