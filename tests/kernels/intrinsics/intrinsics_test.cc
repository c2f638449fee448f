// SPDX-License-Identifier: Apache-2.0
// The emulated intrinsics give the bits of the instructions that this CPU has. They are exactly those that the kernels
// use.
#include <gtest/gtest.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include "intrinsic_calls.h"
#include "kernels/cpu_features.h"
#include "support/rng.h"

namespace goldcrest::test { namespace {
bool cpu_has(Needs needs) {
  const uint32_t features = detect_cpu_features();
  switch (needs) {
    case Needs::kAvx2: return (features & kCpuAvx2) != 0;
    case Needs::kAvxVnni: return (features & kCpuAvxVnni) != 0;
    case Needs::kPclmul: return (features & kCpuAvx2) != 0 && __builtin_cpu_supports("pclmul");
    case Needs::kAvx512: return (features & kCpuAvx512) != 0;
    case Needs::kAvx512Vnni: return (features & kCpuAvx512Vnni) != 0;
    case Needs::kVpclmulqdq: return (features & kCpuAvx512) != 0 && __builtin_cpu_supports("vpclmulqdq");
  }
  return false;
}

// Fills one argument: any bits, the ends of the integer types, special floats, or floats that often end in one half.
void fill_argument(uint8_t* argument, Rng& rng) {
  constexpr uint8_t kBytes[] = {0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff};
  constexpr uint16_t kHalfWords[] = {0, 1, 0x7f, 0x80, 0xff7f, 0xff80, 0x7fff, 0x8000, 0x8001, 0xffff};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float floats[] = {0.0f, -0.0f, std::nanf(""), kInfinity, -kInfinity, 0x1p-149f, -0x1p-126f, 0x1p31f, -0x1p31f,
      0x1p127f, -0x1.fffffep127f, 0x1.fffffep30f, 8388607.5f, -4194304.5f, 150.0f, -150.0f};
  const uint32_t kind = rng.below(5);
  for (size_t i = 0; i < kArgumentBytes; i += 4) {
    auto word = static_cast<uint32_t>(rng.bits());
    float number = floats[rng.below(std::size(floats))];
    if (kind == 3) number = std::round(300.0f * rng.uniform()) / 2;
    if (kind >= 2 && kind <= 3) memcpy(&word, &number, sizeof word);
    for (uint32_t byte = 0; kind == 0 && byte < 4; ++byte) argument[i + byte] = kBytes[rng.below(std::size(kBytes))];
    if (kind == 1)
      word = kHalfWords[rng.below(std::size(kHalfWords))] * 0x10000u + kHalfWords[rng.below(std::size(kHalfWords))];
    if (kind != 0) memcpy(argument + i, &word, sizeof word);
  }
}

bool equal(Compare compare, const uint8_t* a, const uint8_t* b) {
  if (compare == Compare::kBits) return memcmp(a, b, kArgumentBytes) == 0;
  for (size_t i = 0; i < kArgumentBytes; i += sizeof(float)) {
    float x, y;
    memcpy(&x, a + i, sizeof x);
    memcpy(&y, b + i, sizeof y);
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are what is compared
    if (memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

std::string hexadecimal(const uint8_t* bytes) {
  std::string text;
  for (size_t i = 0; i < kArgumentBytes; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, i % 4 == 0 ? " %02x" : "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

void compare_call(const IntrinsicCall& instruction, const IntrinsicCall& emulation) {
  ASSERT_STREQ(instruction.name, emulation.name);
  Rng rng(11);
  for (int trial = 0; trial < 3000; ++trial) {
    alignas(64) uint8_t arguments[kMaxArguments * kArgumentBytes];
    for (size_t i = 0; i < kMaxArguments; ++i) fill_argument(arguments + i * kArgumentBytes, rng);
    alignas(64) uint8_t found[kArgumentBytes] = {}, expected[kArgumentBytes] = {};
    emulation.run(arguments, found);
    instruction.run(arguments, expected);
    ASSERT_TRUE(equal(instruction.compare, found, expected))
        << instruction.name << "\narguments " << hexadecimal(arguments) << "\n          "
        << hexadecimal(arguments + kArgumentBytes) << "\n          " << hexadecimal(arguments + 2 * kArgumentBytes)
        << "\nemulated  " << hexadecimal(found) << "\nexpected  " << hexadecimal(expected);
  }
}

void compare_calls(const IntrinsicCall* instruction, const IntrinsicCall* emulation) {
  for (; instruction->name != nullptr; ++instruction, ++emulation)
    if (cpu_has(instruction->needs)) compare_call(*instruction, *emulation);
    else std::printf("%s: this CPU has no such instruction to compare with\n", instruction->name);
  EXPECT_EQ(emulation->name, nullptr);
}

TEST(Intrinsics, TheEmulationGivesTheBitsOfTheInstructions) {
  compare_calls(native::kAvx2Calls, emulated::kAvx2Calls);
  compare_calls(native::kAvx512Calls, emulated::kAvx512Calls);
}

void insert_intrinsics_of(const std::string& source, std::set<std::string>& names) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto begin = source.begin(); begin != source.end();) {
    begin = std::find_if(begin, source.end(), in_name);
    const auto end = std::find_if_not(begin, source.end(), in_name);
    const std::string name(begin, end);
    if (name.rfind("_mm", 0) == 0) names.insert(name);
    begin = end;
  }
}

TEST(Intrinsics, ThoseOfTheKernelsAreCompared) {
  std::set<std::string> used, compared;
  for (const auto& entry : std::filesystem::directory_iterator(GOLDCREST_SOURCE_DIR "/engine/kernels/x86")) {
    std::ifstream file(entry.path());
    insert_intrinsics_of({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, used);
  }
  for (const IntrinsicCall* calls : {emulated::kAvx2Calls, emulated::kAvx512Calls})
    for (; calls->name != nullptr; ++calls) compared.insert(calls->name);
  EXPECT_EQ(used, compared) << "add to intrinsics/*_calls.cc, or remove from there and from the emulation";
}
}}  // namespace goldcrest::test
