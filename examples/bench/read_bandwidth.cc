// SPDX-License-Identifier: Apache-2.0
#include "read_bandwidth.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace bench {
namespace {

// The sum of all words, in eight independent sums so that it waits for memory and not for additions.
uint64_t sum_words(const uint64_t* words, size_t n) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= n; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace

double read_bandwidth(size_t bytes, const Patience& patience) {
  constexpr size_t kTimedBytes = size_t{16} << 20;  // small buffers are read several times in one timing
  const std::vector<uint64_t> words(bytes / sizeof(uint64_t) + 1, 0);
  const size_t rounds = bytes >= kTimedBytes ? 1 : kTimedBytes / bytes + 1;
  const double timed_bytes = static_cast<double>(rounds * words.size() * sizeof(uint64_t));
  // Volatile, so that the compiler can neither leave out a round nor take one's result for the next.
  volatile uint64_t found = 0;
  const uint64_t* volatile start = words.data();
  const Timing sum = time_repeated(patience, [&] {
    for (size_t round = 0; round < rounds; ++round) found = found + sum_words(start, words.size());
  });
  // The C library's search uses the widest loads of this CPU; the plain loop has only the compiler's baseline.
  const Timing search = time_repeated(patience, [&] {
    for (size_t round = 0; round < rounds; ++round) {
      if (std::memchr(start, 1, words.size() * sizeof(uint64_t)) != nullptr) found = found + 1;
    }
  });
  return timed_bytes / std::min(sum.median_s, search.median_s);
}

}  // namespace bench
