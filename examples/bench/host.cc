// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "spec/format_text.h"

namespace bench {
namespace {

using goldcrest::converter::format_text;

// Part numbers of MIDR_EL1 in cores that Arm designed (Linux, arch/arm64/include/asm/cputype.h).
struct Part {
  uint32_t number;
  const char* name;
};
constexpr Part kArmParts[] = {{0xc07, "Cortex-A7"},   {0xd03, "Cortex-A53"},  {0xd04, "Cortex-A35"},
                              {0xd05, "Cortex-A55"},  {0xd07, "Cortex-A57"},  {0xd08, "Cortex-A72"},
                              {0xd09, "Cortex-A73"},  {0xd0a, "Cortex-A75"},  {0xd0b, "Cortex-A76"},
                              {0xd0c, "Neoverse-N1"}, {0xd40, "Neoverse-V1"}, {0xd49, "Neoverse-N2"}};
constexpr uint32_t kArm = 0x41;

std::string name_of_part(uint32_t implementer, uint32_t part) {
  const auto* const found =
      std::find_if(std::begin(kArmParts), std::end(kArmParts), [=](const Part& known) { return known.number == part; });
  if (implementer == kArm && found != std::end(kArmParts)) return found->name;
  return format_text("implementer {:#x}, part {:#x}", implementer, part);
}

bool starts_with(const std::string& line, std::string_view key) { return line.compare(0, key.size(), key) == 0; }

// Returns the text behind the colon.
std::string value_of(const std::string& line) {
  const size_t colon = line.find(": ");
  return colon == std::string::npos ? "" : line.substr(colon + 2);
}

uint32_t number_of(const std::string& line) {
  return static_cast<uint32_t>(std::strtoul(value_of(line).c_str(), nullptr, 0));
}

void read_cpus(const std::string& path, Host& host) {
  std::ifstream file(path);
  std::set<std::string> names;
  uint32_t implementer = 0;
  for (std::string line; std::getline(file, line);) {
    if (starts_with(line, "processor")) ++host.cpus;
    if (starts_with(line, "model name")) names.insert(value_of(line));
    if (starts_with(line, "CPU implementer")) implementer = number_of(line);
    if (!starts_with(line, "CPU part")) continue;
    names.insert(name_of_part(implementer, number_of(line)));
  }
  // 32-bit Arm has both fields, but its model name only names the architecture.
  if (names.size() > 1 && implementer != 0) {
    for (auto name = names.begin(); name != names.end();)
      name = starts_with(*name, "ARMv") ? names.erase(name) : std::next(name);
  }
  for (const std::string& name : names) host.cpu += (host.cpu.empty() ? "" : " + ") + name;
}

uint64_t highest_clock_hz(const std::string& root, uint32_t cpus) {
  uint64_t highest = 0;
  for (uint32_t i = 0; i < cpus; ++i) {
    std::ifstream file(format_text("{}/sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", root, i));
    uint64_t kilohertz = 0;
    if (file >> kilohertz) highest = std::max(highest, kilohertz * 1000);
  }
  return highest;
}

}  // namespace

Host host_of(const std::string& root) {
  Host host;
  std::ifstream board(root + "/proc/device-tree/model");
  std::getline(board, host.board, '\0');
  utsname system = {};
  if (uname(&system) == 0) host.architecture = system.machine;
  read_cpus(root + "/proc/cpuinfo", host);
  host.clock_hz = highest_clock_hz(root, host.cpus);
  return host;
}

std::string compiler_name() {
#ifdef __clang__
  return format_text("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return format_text("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string command_line(int argc, const char* const* argv) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,=:+-";
  std::string line;
  for (int i = 0; i < argc; ++i) {
    const std::string argument = argv[i];
    if (i > 0) line += ' ';
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char letter : argument) line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    line += '\'';
  }
  return line;
}

}  // namespace bench
