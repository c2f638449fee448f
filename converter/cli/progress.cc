// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include "cli/console.h"
#include "host/printable.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kBarWidth = 30;
constexpr double kSecondsBetweenDrawings = 0.1, kSecondsBetweenLines = 10;
constexpr const char* kToEndOfLine = "\x1b[K";

size_t percent_of(size_t done, size_t total) { return std::min(done, total) * 100 / total; }

// Returns the stage with its bar, or with only the percent if the terminal is too narrow.
std::string bar_line(const std::string& stage, size_t percent, size_t columns) {
  const size_t filled = percent * kBarWidth / 100;
  const std::string bar = format_text(" [{:<{}}] {:3} %", std::string(filled, '#'), kBarWidth, percent);
  const std::string number = format_text(" {:3} %", percent);
  const std::string& end = stage.size() + bar.size() < columns ? bar : number;
  const size_t room = columns > end.size() + 1 ? columns - end.size() - 1 : 0;
  return stage.substr(0, room) + end;
}
}  // namespace

ProgressScreen standard_error_screen(bool quiet) {
  ProgressScreen screen;
  if (quiet) return screen;
  screen.terminal = isatty(STDERR_FILENO) != 0;
  winsize size = {};
  if (screen.terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) screen.columns = size.ws_col;
  screen.show = say;
  screen.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  return screen;
}

void Progress::stage(const std::string& name) {
  finish();
  stage_ = printable(name);
  if (!screen_.show) return;
  last_seconds_ = screen_.seconds();
  if (screen_.terminal) redraw(stage_.substr(0, screen_.columns > 5 ? screen_.columns - 5 : 0) + " ...");
  else screen_.show(stage_ + "\n");
}

void Progress::at(size_t done, size_t total) {
  if (!screen_.show || stage_.empty() || total == 0) return;
  const double now = screen_.seconds();
  if (now - last_seconds_ < (screen_.terminal ? kSecondsBetweenDrawings : kSecondsBetweenLines)) return;
  last_seconds_ = now;
  const size_t percent = percent_of(done, total);
  if (screen_.terminal) redraw(bar_line(stage_, percent, screen_.columns));
  else screen_.show(format_text("{}: {} of {} ({} %)\n", stage_, done, total, percent));
}

std::function<void(size_t, size_t)> Progress::counter() {
  return [this](size_t done, size_t total) { at(done, total); };
}

void Progress::redraw(const std::string& line) {
  if (line == drawn_) return;
  // Overwrites the line and clears only the rest of it, so nothing flickers.
  screen_.show("\r" + line + kToEndOfLine);
  drawn_ = line;
}

void Progress::finish() {
  if (!drawn_.empty()) screen_.show(std::string("\r") + kToEndOfLine);
  drawn_.clear();
  stage_.clear();
}
}  // namespace goldcrest::converter
