// SPDX-License-Identifier: Apache-2.0
// Operations that stacks and stems share in float32.
#pragma once

#include "math/ordered_sums.h"
#include "spec/spec.h"

namespace goldcrest::converter {
using ConstRows = Eigen::Map<const Rows>;

inline Eigen::Index index(size_t n) { return static_cast<Eigen::Index>(n); }

// y = x W^T + b.  x: [m, k]; y: [m, n].
Rows linear(const LinearSpec& spec, const Rows& x);

float activate(Activation activation, float x);

// Turns the columns of each head by the row's position: (a, b) becomes (a cos - b sin, b cos + a sin). Row i has the
// position first_position + i * position_step.  x: [m, n_heads * d_head].
void turn(const StackSpec& stack, uint32_t first_position, uint32_t position_step, Rows& x);
}  // namespace goldcrest::converter
