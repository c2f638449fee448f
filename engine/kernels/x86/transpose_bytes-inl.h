// SPDX-License-Identifier: Apache-2.0
// Interleaves the bytes of four rows, for all tables of x86.
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
namespace {

// to [16, 4] <- from [4, 16], row stride `stride`
inline void transpose_bytes(const int8_t* from, size_t stride, int8_t* to) {
  const auto row = [&](size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * stride)); };
  const __m128i a = row(0), b = row(1), c = row(2), d = row(3);
  const __m128i ab[] = {_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)};
  const __m128i cd[] = {_mm_unpacklo_epi8(c, d), _mm_unpackhi_epi8(c, d)};
  for (int half = 0; half < 2; ++half, to += 32) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(ab[half], cd[half]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_unpackhi_epi16(ab[half], cd[half]));
  }
}

}  // namespace
}  // namespace goldcrest
