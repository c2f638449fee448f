// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate translates lines of text into lines of text.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include "host/messages.h"
#include "translator.h"

namespace {
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

bool process_file(Translator* translator, const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file) return translator->process(file.get(), path);
  std::fprintf(stderr, "%s: %s: cannot be read: %s\n", kProgram, path.c_str(), std::strerror(errno));
  return false;
}

int run(const Arguments& arguments) {
  Translator translator(arguments);
  if (!translator.start()) return kFailed;
  stop_at_interrupt();
  if (arguments.inputs.empty())
    goldcrest::say_waiting(kProgram, arguments.ids ? "lines of ids" : "lines of text; Ctrl-D ends");
  bool good = !arguments.inputs.empty() || translator.process(stdin, "standard input");
  for (const std::string& path : arguments.inputs) good = good && process_file(&translator, path);
  good = good && translator.check_line_ids();
  translator.finish_counter();
  translator.warn_of_lines();
  if (good && arguments.stats) translator.print_stats();
  const bool is_printed = finish_output(kProgram);
  if (is_interrupted()) std::raise(SIGINT);  // its action is the default again, as callers expect
  if (!is_printed || !good) return kFailed;
  return translator.failed_lines() == 0 ? kSuccess : kLinesFailed;
}
}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const std::optional<ExitStatus> status = parse_options(argc, argv, arguments)) return *status;
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kProgram, describe_exception(error, arguments.model).c_str());
    return kFailed;
  }
}
