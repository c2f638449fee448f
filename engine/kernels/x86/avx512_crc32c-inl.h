// SPDX-License-Identifier: Apache-2.0
// Computes CRC-32C by carry-less multiplication of whole vectors, on AVX-512 CPUs with VPCLMULQDQ (Cascade Lake lacks
// it). 128 bytes are folded onto the next 128, which keeps their remainder (Gopal et al., "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009).
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/x86/crc32c-inl.h"

namespace goldcrest { namespace {
// Returns x^power modulo the polynomial, as a factor. In the CRC's bit order the product of two 64-bit halves has an
// extra factor x, and a 32-bit remainder is the upper half of a factor.
constexpr int64_t fold_factor(int power) {
  uint32_t remainder = 0x80000000u;  // x^0
  for (int i = 0; i < power; ++i) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kCrcPolynomial : 0u);
  return static_cast<int64_t>(uint64_t{remainder} << 32);
}

// The factors that move 16 bytes by `kBits` bits. The first eight bytes are 64 bits higher than the last.
template <int kBits> inline __m128i fold_factors() {
  constexpr int64_t first = fold_factor(kBits + 63), last = fold_factor(kBits - 1);  // not left to the optimizer
  return _mm_set_epi64x(last, first);
}

__attribute__((target("pclmul,vpclmulqdq"))) inline __m512i fold(__m512i bytes, __m512i factors, __m512i next) {
  const __m512i first = _mm512_clmulepi64_epi128(bytes, factors, 0x00);
  const __m512i last = _mm512_clmulepi64_epi128(bytes, factors, 0x11);
  return _mm512_ternarylogic_epi64(first, last, next, 0x96);  // exclusive or
}

__attribute__((target("pclmul,vpclmulqdq"))) inline __m128i fold(__m128i bytes, __m128i factors, __m128i next) {
  const __m128i first = _mm_clmulepi64_si128(bytes, factors, 0x00);
  const __m128i last = _mm_clmulepi64_si128(bytes, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, last), next);
}

// n >= 128
__attribute__((target("pclmul,vpclmulqdq"))) uint32_t crc32c_folded(uint32_t crc, const uint8_t* bytes, size_t n) {
  const __m512i factors = _mm512_broadcast_i32x4(fold_factors<1024>());
  const __m128i start = _mm_cvtsi32_si128(static_cast<int>(~crc));
  __m512i a = _mm512_xor_si512(_mm512_loadu_si512(bytes), _mm512_zextsi128_si512(start));
  __m512i b = _mm512_loadu_si512(bytes + 64);
  for (n -= 128, bytes += 128; n >= 128; n -= 128, bytes += 128) {
    a = fold(a, factors, _mm512_loadu_si512(bytes));
    b = fold(b, factors, _mm512_loadu_si512(bytes + 64));
  }
  alignas(64) __m128i parts[4];
  _mm512_store_si512(parts, fold(a, _mm512_broadcast_i32x4(fold_factors<512>()), b));
  for (int i = 1; i < 4; ++i) parts[i] = fold(parts[i - 1], fold_factors<128>(), parts[i]);
  uint64_t last[2];
  memcpy(last, &parts[3], sizeof last);
  return crc32c_words(~crc_word(crc_word(0, last[0]), last[1]), bytes, n);
}

uint32_t crc32c_avx512(uint32_t crc, const void* data, size_t n) {
  if (n < 128 || !__builtin_cpu_supports("vpclmulqdq")) return crc32c_words(crc, data, n);
  return crc32c_folded(crc, static_cast<const uint8_t*>(data), n);
}
}}  // namespace goldcrest
