// SPDX-License-Identifier: Apache-2.0
// goldcrest_check_weights: slices of any size find what one pass finds, and read no byte that has not arrived.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "goldcrest/check.h"
#include "hostile_file.h"
#include "support/guarded_buffer.h"
#include "support/rng.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using test::smallest_file;

constexpr size_t kTrailerBytes = 64;

struct Outcome {
  int status = 0, n_slices = 0;
  size_t end = 0;  // of the last slice
  goldcrest_detail detail = {"", -1};
};

// Checks the file in slices of this many bytes.
Outcome check(const uint8_t* file, size_t bytes, size_t slice_bytes) {
  Outcome outcome;
  goldcrest_check state = {};
  do {
    outcome.end = static_cast<size_t>(state.checked_bytes) + slice_bytes;
    outcome.status = goldcrest_check_weights(file, bytes, outcome.end, &state, &outcome.detail);
    ++outcome.n_slices;
    EXPECT_LE(state.checked_bytes, outcome.end);
  } while (outcome.status == GOLDCREST_WORKING);
  EXPECT_TRUE(state.checked_bytes == 0 && state.part == 0 && state.crc32c == 0) << "it starts over";
  return outcome;
}

Outcome check(const FileImage& file, size_t slice_bytes) { return check(file.bytes(), file.size(), slice_bytes); }

TEST(Slices, OfAnySizeFindAWholeFileWhole) {
  const FileImage& file = smallest_file();
  const size_t bytes = file.size() - kTrailerBytes;
  for (const size_t slice_bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{1000}, bytes, file.size() * 2}) {
    const Outcome outcome = check(file, slice_bytes);
    EXPECT_EQ(outcome.status, GOLDCREST_DONE) << outcome.detail.message;
    EXPECT_EQ(static_cast<size_t>(outcome.n_slices), (bytes + slice_bytes - 1) / slice_bytes) << slice_bytes;
  }
  for (const FileImage* other : {&test::smallest_float32_file(), &test::smallest_listed_file()})
    EXPECT_EQ(check(*other, 100).status, GOLDCREST_DONE);
}

// Bytes behind a slice's end are not read, except for the trailer.
TEST(Slices, AFileIsCheckedWhileItArrives) {
  const FileImage& file = smallest_file();
  test::GuardedBuffer<uint8_t> arriving(file.size());
  std::fill(arriving.begin(), arriving.end(), uint8_t{0xFF});
  goldcrest_check state = {};
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_check_weights(arriving.get(), file.size(), 0, &state, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_STREQ(detail.message, "trailer: not found at the end of the file");
  const size_t bytes = file.size() - kTrailerBytes;
  std::memcpy(arriving.get() + bytes, file.bytes() + bytes, kTrailerBytes);
  for (size_t n = 0; n < bytes; ++n) {
    ASSERT_EQ(goldcrest_check_weights(arriving.get(), file.size(), n, &state, &detail), GOLDCREST_WORKING) << n;
    ASSERT_EQ(state.checked_bytes, n);
    arriving[n] = file.bytes()[n];
  }
  EXPECT_EQ(goldcrest_check_weights(arriving.get(), file.size(), bytes, &state, &detail), GOLDCREST_DONE);
}

// A flipped bit of any byte is found, at the latest at the end of its part.
TEST(Slices, AFlippedBitIsFound) {
  constexpr size_t kSlice = 2048;
  FileImage file = smallest_file();
  const auto& sections = *format::GetModel(file.bytes())->sections();
  std::vector<size_t> ends;
  for (const format::Section* section : sections) ends.push_back(size_t{section->offset()} * 64);
  ends.push_back(file.size() - kTrailerBytes);
  for (size_t byte = 0; byte < file.size(); ++byte) {
    const size_t end = *std::upper_bound(ends.begin(), ends.end() - 1, byte);
    const auto bit = static_cast<uint8_t>(1 << byte % 8);
    file.bytes()[byte] ^= bit;
    const Outcome outcome = check(file, kSlice);
    file.bytes()[byte] ^= bit;
    ASSERT_EQ(outcome.status, GOLDCREST_ERROR_MODEL_CORRUPT) << byte;
    ASSERT_LT(outcome.end, end + kSlice) << byte << ": " << outcome.detail.message;
  }
}

TEST(Slices, TheReasonIsTold) {
  const FileImage& file = smallest_file();
  const auto& sections = *format::GetModel(file.bytes())->sections();
  const auto reason = [&](size_t byte) {
    FileImage damaged = file;
    damaged.bytes()[byte] ^= 1;
    const goldcrest_detail detail = check(damaged, 1000).detail;
    return std::string(detail.message) + " " + std::to_string(detail.index);
  };
  EXPECT_EQ(reason(0), "metadata: checksum -1");
  EXPECT_EQ(reason(size_t{sections.Get(0)->offset()} * 64), "sections: checksum 0");
  EXPECT_EQ(reason(size_t{sections.Get(1)->offset()} * 64), "sections: checksum 1");
  EXPECT_EQ(reason(file.size() - kTrailerBytes + 20), "trailer: checksum -1");
  int n_padded = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const size_t end = size_t{sections.Get(i)->offset()} * 64 + sections.Get(i)->size();
    if (end % 64 == 0) continue;
    ++n_padded;
    EXPECT_EQ(reason(end), "sections: padding behind " + std::to_string(i));
  }
  EXPECT_GT(n_padded, 0);
}

TEST(Slices, WrongArguments) {
  const FileImage& file = smallest_file();
  goldcrest_check state = {};
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_check_weights(file.bytes(), file.size(), 64, nullptr, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "check: null");
  EXPECT_EQ(goldcrest_check_weights(nullptr, file.size(), 64, &state, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "model: the pointer must be aligned to 64 bytes");
  EXPECT_EQ(goldcrest_check_weights(file.bytes() + 1, file.size() - 1, 64, &state, nullptr), GOLDCREST_ERROR_ARGUMENT);
  state.checked_bytes = file.size();
  EXPECT_EQ(goldcrest_check_weights(file.bytes(), file.size(), SIZE_MAX, &state, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "check: a state that no call has left");
}

// If something has overwritten the state, the answer may be wrong, but no byte outside the file is read.
TEST(Slices, AnyStateIsSafe) {
  const FileImage& file = smallest_file();
  test::GuardedBuffer<uint8_t> guarded(file.size());
  std::memcpy(guarded.get(), file.bytes(), file.size());
  test::Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    goldcrest_check state = {};
    const int n_calls = static_cast<int>(rng.below(12));
    for (int call = 0; call < n_calls; ++call) {
      const auto end = static_cast<size_t>(state.checked_bytes) + 300;
      if (goldcrest_check_weights(guarded.get(), file.size(), end, &state, nullptr) != GOLDCREST_WORKING) break;
    }
    auto* bytes = reinterpret_cast<uint8_t*>(&state);
    for (uint32_t n = rng.below(3); n > 0; --n) bytes[rng.below(sizeof state)] ^= static_cast<uint8_t>(rng.below(256));
    const int status = goldcrest_check_weights(guarded.get(), file.size(), SIZE_MAX, &state, nullptr);
    ASSERT_TRUE(status == GOLDCREST_DONE || status == GOLDCREST_ERROR_ARGUMENT ||
                status == GOLDCREST_ERROR_MODEL_CORRUPT)
        << status;
  }
}

}  // namespace
}  // namespace goldcrest
