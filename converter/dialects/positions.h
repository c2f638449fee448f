// SPDX-License-Identifier: Apache-2.0
// Rows that no checkpoint stores: sinusoidal positions, whose frequency, layout and first position differ between
// frameworks, and Marian's start.
#pragma once

#include <cstdint>
#include "spec/spec.h"

namespace goldcrest::converter {
constexpr uint64_t kMaxPositionValues = uint64_t{1} << 24;  // a setting may ask for a table of this size

// Throws Error if a setting, which `where` names, asks for a larger table.
void check_position_rows(const std::string& where, uint64_t rows, uint32_t d_model);

// angle(row p, pair i) = (p + first) * base^(-2 i / denominator), i in [0, d_model / 2)
struct Sinusoid {
  bool interleaved = false;            // true: sin, cos, sin, cos ...; false: all sines, then all cosines
  bool denominator_minus_two = false;  // denominator: d_model - 2 (Marian, fairseq) or d_model (the paper)
  uint32_t first = 0;                  // the position of row 0
  double base = 10000;
};

// [rows, d_model]; d_model must be even, and above 2 for denominator_minus_two.
Matrix sinusoid_table(const Sinusoid& sinusoid, uint32_t rows, uint32_t d_model);

// Returns the largest |a - b| over the rows that two tables of equal width both have.
float largest_difference(const Matrix& a, const Matrix& b);

// Marian's targets begin with the zero vector, in its own files and in CTranslate2's.
//
// Adds the next free target id as the decoder's first input. Its row is zeros, and the search never chooses it. If
// source and target share their tables, the source gets the row too.
void add_start_row(ModelSpec& spec);
}  // namespace goldcrest::converter
