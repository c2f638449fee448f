// SPDX-License-Identifier: Apache-2.0
// The messages of the programs: errors of the engine in full, and the kernel tables. Also how a program ends, with
// Ctrl-C or without. No function throws if standard error or output cannot be written.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include "goldcrest/goldcrest.h"
#include "host/command_line.h"

// Returns, for example, "arena too small: arena: smaller than goldcrest_plan_memory says (43264 bytes)".
std::string describe_error(int64_t status, const goldcrest_detail& detail);

// The same for goldcrest_model_info of a file's bytes. If the bytes are no model, it adds what they look like.
std::string describe_model_error(int64_t status, const goldcrest_detail& detail, const void* file, size_t file_bytes);

// Returns the exception's message. If memory ran out, the message names the model.
std::string describe_exception(const std::exception& error, const std::string& model);

// Returns a message if this build or CPU lacks the kernel table `name` (empty: that of GOLDCREST_KERNELS). It lists the
// tables of this build and marks those that this CPU does not run. Returns an empty string if the table runs, if none
// is asked for, and for the names that Backend handles.
std::string kernels_problem(const std::string& name);

// Flushes standard output. Returns false, after a message, if something could not be written.
bool finish_output(const char* program);

// Prints what ends a program before it begins: help, the version, or a usage error. Returns the exit status: 0, 1 if
// standard output failed, 2 after an error.
int print_answer(const char* program, const goldcrest::CommandLine::Answer& answer);

// Ctrl-C ends a program's work early, so that it prints what it has.
inline volatile std::sig_atomic_t interrupted = 0;

inline bool is_interrupted() { return interrupted != 0; }

// A second interrupt ends the program at once. Reading is not resumed, so that an interrupt also ends a wait for input.
inline void stop_at_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  struct sigaction former = {};
  sigaction(SIGINT, nullptr, &former);
  if (former.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);  // a job in the background ignores it
}

namespace goldcrest {
// Returns a text for standard error: in colour on a terminal, unless NO_COLOR is set (no-color.org); else as it is.
enum class Paint { kRed = 31, kYellow = 33 };
std::string painted(Paint paint, const std::string& text);

// If standard input is a terminal, says on standard error for what the program waits.
void say_waiting(const char* program, const char* wanted);

// Counts lines on a terminal while the results go elsewhere: the last line of standard error, twice a second.
class LineCounter {
 public:
  LineCounter();
  void show(uint64_t n_lines);
  // Clears it.
  void finish();
 private:
  bool is_shown_;
  double begin_, next_;  // seconds of any clock
};

// Returns an error for the first limit that is not 0 and that the model or the engine does not allow:
// "--max-source is 5000; expected 1 to 64, the model's source positions". Returns "" if all are allowed.
std::string limits_problem(const goldcrest_info& info, const goldcrest_limits& limits);

// Returns why a text of n tokens was cut by an engine with these limits, and what to do:
// "cut at 20 tokens; raise --max-target, up to 64".
std::string cut_problem(const goldcrest_info& info, const goldcrest_limits& limits, uint32_t n);
}  // namespace goldcrest
