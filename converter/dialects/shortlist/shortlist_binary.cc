// SPDX-License-Identifier: Apache-2.0
// Marian's lex.*.bin (marian-dev at 2781d735: src/data/shortlist.cpp): six u64 (magic, checksum, first ids, best ids,
// offsets, ids), u64 offsets, u32 ids.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string_view>
#include "dialects/shortlist/shortlist_file.h"
#include "sources/files/input_file.h"
#include "sources/sniffing/peek.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMagic = 0xF11A48D5013417F5, kHeaderBytes = 48, kMaxBytes = uint64_t{1} << 30;

// The checksum over whole words of eight bytes: src/common/hash.h, hashMem, with the identity as the hash of a word.
uint64_t checksum_of(std::string_view bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8)
    sum ^= little_endian(bytes, at, 8) + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  return sum;
}

template <typename Integer> std::vector<Integer> read_array(std::string_view bytes, size_t n) {
  std::vector<Integer> values(n);
  if (n > 0) std::memcpy(values.data(), bytes.data(), n * sizeof(Integer));  // memcpy takes no null pointer
  return values;
}

void check_lists(const ShortlistSpec& shortlist, uint32_t target_ids, const std::string& where) {
  const std::vector<uint64_t>& offset = shortlist.offset;
  if (offset.front() != 0 || offset.back() != shortlist.ids.size()) {
    throw Error("{}: its offsets go from {} to {}, expected from 0 to {}: it is damaged", where, offset.front(),
        offset.back(), shortlist.ids.size());
  }
  for (size_t id = 0; id + 1 < offset.size(); ++id) {
    if (offset[id] > offset[id + 1] || offset[id + 1] > shortlist.ids.size())
      throw Error("{}: the list of the source id {} ends before it begins: it is damaged", where, id);
    for (uint64_t i = offset[id]; i < offset[id + 1]; ++i) {
      if (shortlist.ids[i] >= target_ids) {
        throw Error("{}: the source id {} lists the target id {}, expected less than {}; is it another model's?", where,
            id, shortlist.ids[i], target_ids);
      }
      if (i > offset[id] && shortlist.ids[i] <= shortlist.ids[i - 1])
        throw Error("{}: the list of the source id {} is not ascending: it is damaged", where, id);
    }
  }
}
}  // namespace

bool is_binary_shortlist(const std::filesystem::path& path) {
  char head[8] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(head, sizeof head) && little_endian({head, sizeof head}, 0, 8) == kMagic;
}

ShortlistSpec read_binary_shortlist(const std::filesystem::path& path, const ShortlistBounds& bounds) {
  const std::string where = path.string(), bytes = read_small_file(path, kMaxBytes);
  if (bytes.size() < kHeaderBytes || little_endian(bytes, 0, 8) != kMagic)
    throw Error("{}: is not a binary shortlist of Marian: it does not begin like one", where);
  const uint64_t first = little_endian(bytes, 16, 8), n_offsets = little_endian(bytes, 32, 8),
                 n_ids = little_endian(bytes, 40, 8), rest = bytes.size() - kHeaderBytes;
  if (n_offsets == 0 || n_offsets > rest / 8 || n_ids > rest / 4 || 8 * n_offsets + 4 * n_ids != rest) {
    throw Error("{}: has {} bytes after its header, which says {} offsets and {} ids: it is truncated or damaged",
        where, rest, n_offsets, n_ids);
  }
  const uint64_t expected = little_endian(bytes, 8, 8), found = checksum_of(std::string_view(bytes).substr(16));
  if (found != expected) {
    throw Error(
        "{}: its checksum is {:016x}, expected {:016x}: it is damaged; download it again", where, found, expected);
  }
  if (n_offsets - 1 > bounds.source_ids) {
    throw Error("{}: has lists for {} source ids, but the model has {}; is it another model's?", where, n_offsets - 1,
        bounds.source_ids);
  }
  ShortlistSpec shortlist;
  shortlist.always.resize(std::min<uint64_t>(first, bounds.target_ids));
  std::iota(shortlist.always.begin(), shortlist.always.end(), 0u);
  const std::string_view arrays = std::string_view(bytes).substr(kHeaderBytes);
  shortlist.offset = read_array<uint64_t>(arrays, n_offsets);
  shortlist.ids = read_array<uint32_t>(arrays.substr(8 * n_offsets), n_ids);
  check_lists(shortlist, bounds.target_ids, where);
  shortlist.offset.resize(size_t{bounds.source_ids} + 1, n_ids);
  return shortlist;
}
}  // namespace goldcrest::converter
