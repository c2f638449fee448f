// SPDX-License-Identifier: Apache-2.0
// The converter's builder and the engine's reader agree, and the reader survives any units.
#include "text/double_array.h"
#include <random>
#include "spec/error.h"
#include "support/test.h"
#include "tokenizers/double_array_builder.h"

namespace goldcrest { namespace {
using converter::build_double_array;
using converter::TrieEntry;

// Returns the value of the whole key, or -1 if it is not in the trie.
int64_t find(const std::vector<uint32_t>& units, const std::string& key) {
  const DoubleArray trie = {units.data(), static_cast<uint32_t>(units.size())};
  uint32_t node = 0, value = 0;
  for (const char byte : key)
    if (!step_trie(trie, static_cast<uint8_t>(byte), &node)) return -1;
  return view_trie_value(trie, node, &value) ? int64_t{value} : -1;
}

std::map<std::string, uint32_t> random_keys(uint32_t seed, size_t n, uint32_t n_letters) {
  std::mt19937 generator(seed);
  std::map<std::string, uint32_t> keys;
  while (keys.size() < n) {
    std::string key;
    const size_t length = 1 + generator() % 12;
    while (key.size() < length) key += static_cast<char>(1 + generator() % n_letters);
    keys.emplace(key, generator() & 0x7FFFFFFF);
  }
  return keys;
}

std::vector<TrieEntry> entries_of(const std::map<std::string, uint32_t>& keys) {
  std::vector<TrieEntry> entries;
  for (const auto& [key, value] : keys) entries.push_back({key, value});
  return entries;
}

TEST(DoubleArray, FindsEveryKeyAndNothingElse) {
  for (const uint32_t n_letters : {2u, 26u, 255u}) {
    const std::map<std::string, uint32_t> keys = random_keys(n_letters, 3000, n_letters);
    const std::vector<uint32_t> units = build_double_array(entries_of(keys));
    for (const auto& [key, value] : keys) {
      EXPECT_EQ(find(units, key), int64_t{value});
      for (const std::string& other :
          {key + "x", key.substr(1), key.substr(0, key.size() - 1), key + std::string(1, '\0')}) {
        const auto known = keys.find(other);
        EXPECT_EQ(find(units, other), known == keys.end() ? -1 : int64_t{known->second});
      }
    }
  }
}

// Offsets beyond 21 bits need the other form of a unit.
TEST(DoubleArray, HoldsMoreThanTwoMillionUnits) {
  const std::map<std::string, uint32_t> keys = random_keys(5, 400000, 255);
  const std::vector<uint32_t> units = build_double_array(entries_of(keys));
  ASSERT_GT(units.size(), size_t{1} << 21);
  size_t n_wrong = 0;
  for (const auto& [key, value] : keys) n_wrong += find(units, key) != int64_t{value};
  EXPECT_EQ(n_wrong, 0u);
}

TEST(DoubleArray, DoesNotDependOnTheOrderOfTheKeys) {
  std::vector<TrieEntry> entries = entries_of(random_keys(9, 500, 26));
  const std::vector<uint32_t> units = build_double_array(entries);
  std::reverse(entries.begin(), entries.end());
  EXPECT_EQ(build_double_array(entries), units);
}

TEST(DoubleArray, AnEmptyOneHasNoKey) {
  EXPECT_TRUE(build_double_array({}).empty());
  EXPECT_EQ(find({}, "a"), -1);
  EXPECT_EQ(find({}, ""), -1);
}

TEST(DoubleArray, RefusesKeysItCannotHold) {
  EXPECT_THROW(build_double_array({{"", 1}}), converter::Error);
  EXPECT_THROW(build_double_array({{std::string("a\0b", 3), 1}}), converter::Error);
  EXPECT_THROW(build_double_array({{"a", 1}, {"b", 2}, {"a", 3}}), converter::Error);
  EXPECT_THROW(build_double_array({{"a", 1u << 31}}), converter::Error);
}

// Each array ends where its allocation ends, so the address sanitizer sees a read outside.
TEST(DoubleArray, SurvivesRandomUnits) {
  std::mt19937 generator(3);
  size_t n_steps = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<uint32_t> units(1 + generator() % 300);
    for (uint32_t& unit : units)
      unit = static_cast<uint32_t>(generator() % 3 == 0 ? generator() : generator() & 0x1FFFF);
    const DoubleArray trie = {units.data(), static_cast<uint32_t>(units.size())};
    uint32_t node = static_cast<uint32_t>(generator()), value = 0;
    EXPECT_FALSE(node >= trie.n_units && step_trie(trie, 1, &node));
    node = 0;
    for (int i = 0; i < 1000; ++i) {
      n_steps += step_trie(trie, static_cast<uint8_t>(generator()), &node);
      ASSERT_LT(node, trie.n_units);
      if (view_trie_value(trie, node, &value)) {
        EXPECT_LT(value, 1u << 31);
      }
    }
  }
  EXPECT_GT(n_steps, 100u);
}
}}  // namespace goldcrest
