// SPDX-License-Identifier: Apache-2.0
// Rotary positions in the file's form: a head's columns c and c + half turn together, and half is a multiple of 16.
#pragma once

#include <cstdint>

#include "spec/spec.h"

namespace goldcrest::converter {

// The positions of a checkpoint whose columns 2 i and 2 i + 1 of each head turn together, by position * base^(-2 i /
// turned). Its other columns stay.
struct InterleavedRotary {
  uint32_t d_head = 0;
  uint32_t turned = 0;  // columns of a head, even
  double base = 10000;
};

// Returns a head's width in the file's form. Columns that stay fill the places between those that turn.
uint32_t halved_width(const InterleavedRotary& rotary);

// Puts the outputs of queries and keys into that form, and widens all heads to halved_width with zeros.
void halve_pairs(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention);
// Widens the heads of an attention that does not turn.
void widen_heads(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention);

// Returns the table of the first `positions` positions.
RotarySpec halved_rotary(const InterleavedRotary& rotary, uint32_t positions);

}  // namespace goldcrest::converter
