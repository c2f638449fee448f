// SPDX-License-Identifier: Apache-2.0
#include "host/speech/ffmpeg.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include "host/speech/wav.h"

namespace goldcrest::host {
std::string Ffmpeg::start(const std::string& name, uint32_t sample_rate) {
  if (name.empty() && lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
    return "--ffmpeg: a pipe cannot be read from its begin again; put ffmpeg in front of it, or give a file's name";
  return spawn(ffmpeg_arguments(name, "", sample_rate), name.empty() ? STDIN_FILENO : -1);
}

std::string Ffmpeg::start_untrusted(std::FILE* file, uint32_t sample_rate) {
  std::vector<std::string> arguments = ffmpeg_arguments("/dev/stdin", "", sample_rate);
  // Play lists and the like would read other files, or the network.
  arguments.insert(arguments.begin() + 1,
      {"-protocol_whitelist", "file", "-format_whitelist", "aac,flac,matroska,webm,mov,mp4,m4a,mp3,ogg,wav,w64,aiff"});
  return spawn(std::move(arguments), fileno(file));
}

// input: its standard input; -1: nothing.
std::string Ffmpeg::spawn(std::vector<std::string> arguments, int input) {
  arguments.insert(arguments.begin() + 1, {"-v", "error"});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::string("--ffmpeg: no pipe: ") + std::strerror(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (input < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  const int error = posix_spawnp(&child_, "ffmpeg", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output_.reset(fdopen(ends[0], "rb"));
  if (error == 0) return "";
  child_ = -1;
  return std::string("--ffmpeg: ffmpeg cannot be started: ") + std::strerror(error) +
         "; install the package ffmpeg, or convert the clip elsewhere";
}

std::string Ffmpeg::finish() {
  if (child_ < 0) return "";
  output_.reset();
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return "";
  const bool has_exited = WIFEXITED(status);
  return std::string("--ffmpeg: ffmpeg ended with ") + (has_exited ? "status " : "signal ") +
         std::to_string(has_exited ? WEXITSTATUS(status) : WTERMSIG(status));
}
}  // namespace goldcrest::host
