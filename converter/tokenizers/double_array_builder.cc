// SPDX-License-Identifier: Apache-2.0
// First fit: a node's children take the first place where all of their units are free. Only the last few blocks are
// searched, so building stays near linear (the bound of darts-clone, see engine/text/double_array.h).
#include "tokenizers/double_array_builder.h"
#include <algorithm>
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kBlockUnits = 256;
constexpr uint32_t kOpenUnits = 16 * kBlockUnits;  // units at the end that are still searched for places
constexpr uint32_t kFree = 1u << 31;               // a leaf that no node leads to: matches no byte
constexpr uint32_t kNoUnit = 0xFFFFFFFF;

// Keys [begin, end) share their first `depth` bytes, which lead to `node`.
struct Range {
  size_t begin, end, depth;
  uint32_t node;
};

struct Child {
  uint8_t label;  // 0: the end of a string
  size_t begin, end;
};

class TrieBuilder {
 public:
  explicit TrieBuilder(const std::vector<TrieEntry>& entries) : entries_(entries) {}
  std::vector<uint32_t> build();
 private:
  std::vector<Child> children(const Range& range) const;
  bool fits(uint32_t node, uint32_t base, const std::vector<Child>& children) const;
  uint32_t find_base(uint32_t node, const std::vector<Child>& children);
  void place(const Range& range, std::vector<Range>* pending);

  void add_block();
  void close(uint32_t unit);
  void take(uint32_t unit);

  const std::vector<TrieEntry>& entries_;
  std::vector<uint32_t> units_;
  std::vector<bool> taken_;                // [units]
  std::vector<bool> base_used_;            // [units] two nodes with one base would share children
  std::vector<uint32_t> next_, previous_;  // [units] ring of the free units that are still searched
  uint32_t first_free_ = kNoUnit;
};

// Excludes a unit of the ring from further searches.
void TrieBuilder::close(uint32_t unit) {
  const uint32_t after = next_[unit], before = previous_[unit];
  next_[before] = after;
  previous_[after] = before;
  next_[unit] = kNoUnit;
  if (first_free_ == unit) first_free_ = after == unit ? kNoUnit : after;
}

void TrieBuilder::take(uint32_t unit) {
  taken_[unit] = true;
  if (next_[unit] != kNoUnit) close(unit);
}

void TrieBuilder::add_block() {
  const uint32_t begin = static_cast<uint32_t>(units_.size()), end = begin + kBlockUnits;
  units_.resize(end, kFree);
  taken_.resize(end, false);
  base_used_.resize(end, false);
  next_.resize(end, kNoUnit);
  previous_.resize(end, kNoUnit);
  for (uint32_t unit = begin; unit < end; ++unit) {
    if (first_free_ == kNoUnit) {
      first_free_ = next_[unit] = previous_[unit] = unit;
      continue;
    }
    const uint32_t last = previous_[first_free_];
    next_[last] = unit;
    previous_[unit] = last;
    next_[unit] = first_free_;
    previous_[first_free_] = unit;
  }
  while (first_free_ + kOpenUnits < end) close(first_free_);  // the ring is in ascending order
}

// True if the base fits the node and every child is free. The offset from node to base has 21 bits, or 29 bits that end
// in eight zeros.
bool TrieBuilder::fits(uint32_t node, uint32_t base, const std::vector<Child>& children) const {
  const uint32_t offset = node ^ base;
  if (base_used_[base] || ((offset >> 21) != 0 && (offset & 0xFF) != 0)) return false;
  return std::none_of(children.begin(), children.end(), [&](const Child& child) { return taken_[base ^ child.label]; });
}

uint32_t TrieBuilder::find_base(uint32_t node, const std::vector<Child>& children) {
  if (first_free_ != kNoUnit) {
    uint32_t unit = first_free_;
    do {
      const uint32_t base = unit ^ children[0].label;
      if (fits(node, base, children)) return base;
      unit = next_[unit];
    } while (unit != first_free_);
  }
  const uint32_t base = static_cast<uint32_t>(units_.size()) | (node & 0xFF);
  add_block();
  if ((node ^ base) >> 29 != 0) throw Error("a vocabulary of {} pieces is too large for its trie", entries_.size());
  return base;
}

std::vector<Child> TrieBuilder::children(const Range& range) const {
  std::vector<Child> found;
  for (size_t i = range.begin; i < range.end; ++i) {
    const std::string& key = entries_[i].key;
    const uint8_t label = range.depth < key.size() ? static_cast<uint8_t>(key[range.depth]) : uint8_t{0};
    if (found.empty() || found.back().label != label) found.push_back({label, i, i});
    found.back().end = i + 1;
  }
  return found;
}

void TrieBuilder::place(const Range& range, std::vector<Range>* pending) {
  const std::vector<Child> nodes = children(range);
  const uint32_t base = find_base(range.node, nodes);
  base_used_[base] = true;
  const uint32_t offset = range.node ^ base;
  units_[range.node] |= (offset >> 21) == 0 ? offset << 10 : offset << 2 | 1u << 9;
  for (const Child& child : nodes) {
    const uint32_t unit = base ^ child.label;
    take(unit);
    if (child.label == 0) {
      units_[range.node] |= 1u << 8;
      units_[unit] = 1u << 31 | entries_[child.begin].value;
    } else {
      units_[unit] = child.label;
    }
  }
  // The last child is placed first. Any order works if it is fixed.
  for (const Child& child : nodes)
    if (child.label != 0) pending->push_back({child.begin, child.end, range.depth + 1, base ^ child.label});
}

std::vector<uint32_t> TrieBuilder::build() {
  if (entries_.empty()) return {};
  add_block();
  take(0);  // the root
  units_[0] = 0;
  base_used_[0] = true;
  std::vector<Range> pending = {{0, entries_.size(), 0, 0}};
  while (!pending.empty()) {
    const Range range = pending.back();
    pending.pop_back();
    place(range, &pending);
  }
  return std::move(units_);
}
}  // namespace

std::vector<uint32_t> build_double_array(std::vector<TrieEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const TrieEntry& a, const TrieEntry& b) { return a.key < b.key; });
  for (size_t i = 0; i < entries.size(); ++i) {
    const TrieEntry& entry = entries[i];
    if (entry.key.empty() || entry.key.find('\0') != std::string::npos)
      throw Error("the piece of id {} is empty or has a NUL byte; a trie cannot hold it", entry.value);
    if (entry.value >> 31 != 0) throw Error("the id {} is too large for a trie", entry.value);
    if (i > 0 && entries[i - 1].key == entry.key) {
      throw Error(
          "the piece \"{}\" occurs twice, with the ids {} and {}", entry.key, entries[i - 1].value, entry.value);
    }
  }
  return TrieBuilder(entries).build();
}
}  // namespace goldcrest::converter
