// SPDX-License-Identifier: Apache-2.0
// Ctrl-C ends a program's work early, so that it prints what it has.
#pragma once

#include <csignal>

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
