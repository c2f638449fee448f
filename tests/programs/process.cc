// SPDX-License-Identifier: Apache-2.0
// Starts programs by fork and exec. Input and outputs of a single run go through unnamed files, so no side waits for
// the other.
#include "programs/process.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace goldcrest::test {
namespace {
struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File unnamed_file() {
  File file(std::tmpfile());
  if (!file) throw std::runtime_error("cannot make an unnamed file");
  return file;
}

File output_file(Output kind) {
  File file(kind == Output::kFull ? std::fopen("/dev/full", "w") : std::tmpfile());
  if (!file) throw std::runtime_error("cannot open a program's output");
  return file;
}

// Runs in the child.
void limit(int resource, rlim_t most) {
  const rlimit both = {most, most};
  if (most != 0 && ::setrlimit(resource, &both) != 0) ::_exit(127);
}

// Runs in the child; -1 closes the stream.
void become(
    const std::filesystem::path& program, const Arguments& arguments, const RunOptions& how, const int (&streams)[3]) {
  constexpr int kCannotStart = 127;
  for (int i = 0; i < 3; ++i)
    if (streams[i] < 0) ::close(i);
    else if (::dup2(streams[i], i) < 0) ::_exit(kCannotStart);
  if (!how.folder.empty() && ::chdir(how.folder.c_str()) != 0) ::_exit(kCannotStart);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::alarm(how.max_seconds);
  limit(RLIMIT_CPU, how.max_cpu_seconds);
  limit(RLIMIT_AS, how.max_address_bytes);
  ::execv(program.c_str(), words.data());
  ::_exit(kCannotStart);
}

pid_t start(
    const std::filesystem::path& program, const Arguments& arguments, const RunOptions& how, const int (&streams)[3]) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start " + program.string());
  if (child == 0) become(program, arguments, how, streams);
  return child;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Outcome wait_for(pid_t child) {
  int status = 0;
  rusage usage = {};
  if (::wait4(child, &status, 0, &usage) != child) throw std::runtime_error("lost a program");
  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  outcome.most_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return outcome;
}

std::string content(std::FILE* file) {
  std::string text(static_cast<size_t>(::lseek(::fileno(file), 0, SEEK_END)), '\0');
  if (::pread(::fileno(file), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("cannot read what a program wrote");
  return text;
}
}  // namespace

Outcome run(const std::filesystem::path& program, const Arguments& arguments, const RunOptions& how) {
  const File input = unnamed_file(), output = output_file(how.output), error = output_file(how.error);
  std::fwrite(how.input.data(), 1, how.input.size(), input.get());
  if (std::fflush(input.get()) != 0 || ::lseek(::fileno(input.get()), 0, SEEK_SET) != 0)
    throw std::runtime_error("cannot write a program's input");
  const auto descriptor = [](Output kind, const File& file) {
    return kind == Output::kClosed ? -1 : ::fileno(file.get());
  };
  const int out = descriptor(how.output, output), err = descriptor(how.error, error);
  Outcome outcome = wait_for(start(program, arguments, how, {::fileno(input.get()), out, err}));
  if (how.output == Output::kCaptured) outcome.out = content(output.get());
  if (how.error == Output::kCaptured) outcome.err = content(error.get());
  return outcome;
}

Dialogue::Dialogue(const std::filesystem::path& program, const Arguments& arguments) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  child_ = start(program, arguments, {}, {to[0], from[1], STDERR_FILENO});
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
}

Dialogue::~Dialogue() {
  if (child_ >= 0) finish();
  ::close(output_);
}

void Dialogue::write(std::string_view text) {
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("the program has closed its input");
}

std::string Dialogue::read_line() {
  constexpr int kMaxMilliseconds = 60000;
  std::string line;
  while (true) {
    pollfd answer = {output_, POLLIN, 0};
    char c = 0;
    if (::poll(&answer, 1, kMaxMilliseconds) != 1 || ::read(output_, &c, 1) != 1)
      throw std::runtime_error("the program did not answer; so far: " + line);
    if (c == '\n') return line;
    line += c;
  }
}

int Dialogue::finish() {
  ::close(input_);
  const int status = wait_for(child_).status;
  child_ = -1;
  return status;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}
}  // namespace goldcrest::test
