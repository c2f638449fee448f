// SPDX-License-Identifier: Apache-2.0
// What a figure was measured on: the board, its cores and their clock, as Linux tells them; and the program's own
// build.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

// Empty or 0: the system does not tell.
struct Host {
  std::string board;  // of the device tree, "Raspberry Pi 4 Model B Rev 1.4"
  std::string cpu;    // "Cortex-A72"; with cores of several kinds "Cortex-A55 + Cortex-A76"; on x86 its model name
  std::string architecture;
  uint32_t cpus = 0;
  uint64_t clock_hz = 0;  // the highest of any core
};

// root: before /proc and /sys; empty but in tests.
Host host_of(const std::string& root);

// "GCC 12.2.0", "Clang 14.0.6".
std::string compiler_name();

// The arguments as a shell reads them.
std::string command_line(int argc, const char* const* argv);

}  // namespace bench
