// SPDX-License-Identifier: Apache-2.0
// Turns a fuzz target's input into choices in a row, each from a few bytes. Every input means something, a small change
// of it is a small change of the actions, and after its end it continues with zeros.
#pragma once

#include "support/standard.h"

// libFuzzer and replay.cc call the first. Only libFuzzer calls the second, once, before it counts edges.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t n);  // NOLINT(readability-identifier-naming)
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);           // NOLINT(readability-identifier-naming)

namespace goldcrest::test {
class Script {
 public:
  Script(const uint8_t* bytes, size_t n) : bytes_(bytes), n_(n) {}

  bool is_done() const { return n_ == 0; }
  size_t n_bytes() const { return n_; }
  uint32_t sum() const { return std::accumulate(bytes_, bytes_ + n_, 0u); }
  uint8_t byte() { return take<uint8_t>(); }
  uint16_t half() { return take<uint16_t>(); }
  uint32_t word() { return take<uint32_t>(); }
  // A number in [0, n); n >= 1.
  uint32_t below(uint32_t n) { return (n <= 256 ? byte() : n <= 65536 ? half() : word()) % n; }
  // True for one input in `n`, if inputs were random.
  bool one_in(uint32_t n) { return below(n) == n - 1; }
  // At most `n` bytes, unchanged.
  std::string_view text_of(size_t n) {
    if (n > n_) n = n_;
    const std::string_view text(reinterpret_cast<const char*>(bytes_), n);
    bytes_ += n;
    n_ -= n;
    return text;
  }
  // A text whose first byte is its length.
  std::string_view text() { return text_of(byte()); }
  // All remaining bytes.
  std::string_view rest() { return text_of(n_); }
 private:
  template <typename Value> Value take() {
    Value value = 0;
    const size_t n = n_ < sizeof value ? n_ : sizeof value;
    if (n > 0) std::memcpy(&value, bytes_, n);  // an empty input may be null
    bytes_ += n;
    n_ -= n;
    return value;
  }

  const uint8_t* bytes_;
  size_t n_;
};

// A target's own part.
void run_input(Script script);

// A broken promise ends the program, and libFuzzer keeps the input.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}
}  // namespace goldcrest::test
