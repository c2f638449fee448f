// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include "host/messages.h"
#include "host/printable.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
int output_error = 0;  // first error of standard output, an errno; 0: none

void note_output_error() {
  if (output_error == 0) output_error = errno == 0 ? EIO : errno;
}
}  // namespace

void open_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is this stream's. Writing to it fails, as before.
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != stream) return;
  }
}

size_t output_columns() {
  constexpr size_t kUsual = 80;
  winsize size = {};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return is_known ? size.ws_col : kUsual;
}

void say(std::string_view text) {
  // Unbuffered, so nothing can fail later.
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void say_error(std::string_view message) {
  const Paint paint = message.starts_with("warning: ") ? Paint::kYellow : Paint::kRed;
  say(painted(paint, "goldcrest-convert: " + printable_lines(message)) + "\n");
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_output_error();
}

bool flush_output() {
  if (std::fflush(stdout) != 0) note_output_error();
  return output_error == 0 || output_error == EPIPE;
}

void require_output(std::string_view consequence) {
  if (!flush_output()) throw Error("standard output: write failed; {}", consequence);
}
}  // namespace goldcrest::converter
