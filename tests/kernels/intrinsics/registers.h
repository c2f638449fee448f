// SPDX-License-Identifier: Apache-2.0
// Registers and masks of x86 as the compiler's portable vectors, and the building blocks of the emulated intrinsics:
// lanes in plain arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

typedef float __m128 __attribute__((vector_size(16)));
typedef float __m256 __attribute__((vector_size(32)));
typedef float __m512 __attribute__((vector_size(64)));
typedef long long __m128i __attribute__((vector_size(16)));
typedef long long __m256i __attribute__((vector_size(32)));
typedef long long __m512i __attribute__((vector_size(64)));
typedef int __v8si __attribute__((vector_size(32)));
typedef int __v16si __attribute__((vector_size(64)));
using __mmask16 = uint16_t;
using __mmask64 = uint64_t;

namespace goldcrest::intrinsics {
template <typename Lane, size_t kCount> struct Lanes {
  Lane lane[kCount];
  Lane& operator[](size_t i) { return lane[i]; }
  const Lane& operator[](size_t i) const { return lane[i]; }
  static constexpr size_t size() { return kCount; }
};

template <typename Lane, typename Register> using LanesOf = Lanes<Lane, sizeof(Register) / sizeof(Lane)>;

// The same bits as another type.
template <typename To, typename From> inline To cast(const From& from) { return __builtin_bit_cast(To, from); }

template <typename Lane, typename Register> inline LanesOf<Lane, Register> split(Register r) {
  return cast<LanesOf<Lane, Register>>(r);
}

template <typename Register> inline Register load(const void* p) {
  Register r;
  memcpy(&r, p, sizeof r);
  return r;
}

template <typename Register> inline void store(void* p, Register r) { memcpy(p, &r, sizeof r); }

// `x` in every lane.
template <typename Register, typename Lane> inline Register fill(Lane x) {
  LanesOf<Lane, Register> r;
  for (Lane& lane : r.lane) lane = x;
  return cast<Register>(r);
}

// f(a[i], b[i])
template <typename Lane, typename Register, typename Function> inline Register zip(Register a, Register b, Function f) {
  const LanesOf<Lane, Register> x = split<Lane>(a), y = split<Lane>(b);
  LanesOf<Lane, Register> r;
  for (size_t i = 0; i < r.size(); ++i) r[i] = static_cast<Lane>(f(x[i], y[i]));
  return cast<Register>(r);
}

// Converts each lane by f.
template <typename To, typename Register, typename From, size_t kCount, typename Function>
inline Register convert(const Lanes<From, kCount>& from, Function f) {
  Lanes<To, kCount> r;
  for (size_t i = 0; i < kCount; ++i) r[i] = f(from[i]);
  return cast<Register>(r);
}

template <typename To, typename Register, typename From, size_t kCount>
inline Register convert(const Lanes<From, kCount>& from) {
  return convert<To, Register>(from, [](From x) { return static_cast<To>(x); });
}

// Part number `index` of a register; and a register whose start is this part and whose rest is zero.
template <typename Part, typename Register> inline Part part(Register r, int index) {
  return split<Part>(r)[static_cast<size_t>(index)];
}
template <typename Register, typename Part> inline Register widen(Part start) {
  LanesOf<Part, Register> r = {};
  r[0] = start;
  return cast<Register>(r);
}

inline constexpr auto kAdd = [](auto x, auto y) { return x + y; };
inline constexpr auto kSubtract = [](auto x, auto y) { return x - y; };
inline constexpr auto kAnd = [](auto x, auto y) { return x & y; };
inline constexpr auto kOr = [](auto x, auto y) { return x | y; };
inline constexpr auto kXor = [](auto x, auto y) { return x ^ y; };
// Returns the second if both are equal or either is not a number, as MAXPS does.
inline constexpr auto kLarger = [](auto x, auto y) { return x > y ? x : y; };
inline constexpr auto kSmaller = [](auto x, auto y) { return x < y ? x : y; };

template <typename To> inline To saturate(int32_t x) {
  constexpr int32_t kLargest = (1 << (8 * sizeof(To) - 1)) - 1;
  return static_cast<To>(x > kLargest ? kLargest : x < -kLargest - 1 ? -kLargest - 1 : x);
}

// Rounds halves to even; -2^31 if the result does not fit.
inline int32_t round_to_int32(float x) {
  if (!(x >= -0x1p31f && x < 0x1p31f)) return INT32_MIN;
  if (x >= 0x1p23f || x <= -0x1p23f) return static_cast<int32_t>(x);
  const float whole = x < 0 ? -0x1p23f : 0x1p23f;  // a float of this size has no fraction bits
  return static_cast<int32_t>((x + whole) - whole);
}

// In each 128 bits: a's lanes, then b's, saturated to half their width.
template <typename From, typename To, typename Register> inline Register pack(Register a, Register b) {
  constexpr size_t kQuarter = 16 / sizeof(From);
  const LanesOf<From, Register> x = split<From>(a), y = split<From>(b);
  LanesOf<To, Register> r;
  for (size_t i = 0; i < r.size(); ++i) {
    const size_t from = i / (2 * kQuarter) * kQuarter + i % kQuarter;
    r[i] = saturate<To>(i / kQuarter % 2 == 0 ? x[from] : y[from]);
  }
  return cast<Register>(r);
}

// a with b in the place of its 128 bits `index`.
template <typename Register, typename Part> inline Register insert_part(Register a, Part b, int index) {
  auto r = split<Part>(a);
  r[static_cast<size_t>(index)] = b;
  return cast<Register>(r);
}

// In each 128 bits: a's and b's lanes in turn, of the lower or upper halves.
template <typename Lane, typename Register> inline Register unpack(Register a, Register b, bool upper) {
  constexpr size_t kQuarter = 16 / sizeof(Lane);
  const LanesOf<Lane, Register> x = split<Lane>(a), y = split<Lane>(b);
  LanesOf<Lane, Register> r;
  for (size_t i = 0; i < r.size(); ++i) {
    const size_t from = i / kQuarter * kQuarter + (upper ? kQuarter / 2 : 0) + i % kQuarter / 2;
    r[i] = i % 2 == 0 ? x[from] : y[from];
  }
  return cast<Register>(r);
}

// r[i] = a[index[i]], with the index modulo the number of lanes.
template <typename Register, typename IndexRegister> inline Register permute_words(Register a, IndexRegister index) {
  const LanesOf<uint32_t, Register> x = split<uint32_t>(a), at = split<uint32_t>(index);
  LanesOf<uint32_t, Register> r;
  for (size_t i = 0; i < r.size(); ++i) r[i] = x[at[i] % r.size()];
  return cast<Register>(r);
}

// sum[i] plus the products of four unsigned bytes of a with four signed bytes of b.
template <typename Register> inline Register add_byte_products(Register sum, Register a, Register b) {
  const LanesOf<uint8_t, Register> x = split<uint8_t>(a);
  const LanesOf<int8_t, Register> y = split<int8_t>(b);
  LanesOf<uint32_t, Register> r = split<uint32_t>(sum);
  for (size_t i = 0; i < r.size(); ++i) {
    int32_t products = 0;
    for (size_t j = 4 * i; j < 4 * i + 4; ++j) products += x[j] * y[j];
    r[i] += static_cast<uint32_t>(products);
  }
  return cast<Register>(r);
}

// sum[i] plus the products of two int16 of a with two of b.
template <typename Register> inline Register add_word_products(Register sum, Register a, Register b) {
  const LanesOf<int16_t, Register> x = split<int16_t>(a), y = split<int16_t>(b);
  LanesOf<uint32_t, Register> r = split<uint32_t>(sum);
  for (size_t i = 0; i < r.size(); ++i)
    r[i] += static_cast<uint32_t>(x[2 * i] * y[2 * i]) + static_cast<uint32_t>(x[2 * i + 1] * y[2 * i + 1]);
  return cast<Register>(r);
}

// Multiplies polynomials over two elements, 64 x 64 -> 128 bits, in each 128 bits of a and b. Bits 0 and 4 of `halves`
// choose the halves of a and b.
template <typename Register> inline Register multiply_carry_less(Register a, Register b, int halves) {
  const LanesOf<uint64_t, Register> x = split<uint64_t>(a), y = split<uint64_t>(b);
  LanesOf<uint64_t, Register> r = {};
  for (size_t i = 0; i < r.size(); i += 2) {
    const uint64_t left = x[i + (halves & 1)], right = y[i + (halves >> 4 & 1)];
    for (int bit = 0; bit < 64; ++bit) {
      if ((right >> bit & 1) == 0) continue;
      r[i] ^= left << bit;
      if (bit != 0) r[i + 1] ^= left >> (64 - bit);
    }
  }
  return cast<Register>(r);
}

// The register of a CRC-32C after `n` more bits.
inline uint32_t crc32c_bits(uint32_t crc, uint64_t bits, int n) {
  for (int i = 0; i < n; ++i) crc = (crc >> 1) ^ (((crc ^ bits >> i) & 1) != 0 ? 0x82f63b78u : 0u);
  return crc;
}
}  // namespace goldcrest::intrinsics
