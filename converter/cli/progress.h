// SPDX-License-Identifier: Apache-2.0
// Progress of stages: a bar that redraws itself on a terminal; elsewhere one plain line a stage, and one more every ten
// seconds of a long one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace goldcrest::converter {

// Where progress goes, and the clock that it looks at.
struct ProgressScreen {
  bool terminal = false;
  size_t columns = 80;                         // of a terminal
  std::function<void(std::string_view)> show;  // empty: nothing is shown
  std::function<double()> seconds;             // since any fixed moment
};

// Standard error; nothing when `quiet`.
ProgressScreen standard_error_screen(bool quiet);

class Progress {
 public:
  explicit Progress(ProgressScreen screen) : screen_(std::move(screen)) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Begins a stage, ending the one before.
  void stage(const std::string& name);
  // How far the stage is.
  void at(size_t done, size_t total);
  // at() as a function, as long as this object lives.
  std::function<void(size_t done, size_t total)> counter();
  void finish();

 private:
  // A line in place of the one that stands there.
  void redraw(const std::string& line);

  ProgressScreen screen_;
  std::string stage_, drawn_;
  double last_seconds_ = 0;  // of what was shown last
};

}  // namespace goldcrest::converter
