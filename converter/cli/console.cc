// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "spec/error.h"
#include "spec/printable.h"

namespace goldcrest::converter {

void open_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is this stream's. Writing to it fails, as before.
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != stream) return;
  }
}

void say(std::string_view text) {
  // Unbuffered, so nothing can fail later.
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void say_error(std::string_view message) { say("goldcrest-convert: " + printable_lines(message) + "\n"); }

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void flush_output(std::string_view consequence) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("standard output: write failed; {}", consequence);
}

}  // namespace goldcrest::converter
