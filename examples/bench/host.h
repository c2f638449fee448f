// SPDX-License-Identifier: Apache-2.0
// Describes the machine that a figure was measured on: the board, its cores and their clock, as Linux reports them, and
// the program's own build.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

// A field is empty or 0 if the system does not tell it.
struct Host {
  std::string board;  // from the device tree, "Raspberry Pi 4 Model B Rev 1.4"
  std::string cpu;    // "Cortex-A72"; with cores of several kinds "Cortex-A55 + Cortex-A76"; on x86 its model name
  std::string architecture;
  uint32_t cpus = 0;
  uint64_t clock_hz = 0;  // the highest of any core
};

// root: prefix of /proc and /sys; only tests set it.
Host host_of(const std::string& root);

// Returns for example "GCC 12.2.0" or "Clang 14.0.6".
std::string compiler_name();

// Returns the arguments, quoted for a shell.
std::string command_line(int argc, const char* const* argv);

}  // namespace bench
