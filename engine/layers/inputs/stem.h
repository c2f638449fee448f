// SPDX-License-Identifier: Apache-2.0
// The work of one task on a clip: it computes a few rows at a time, and all rows of earlier levels that these need.
// Level 0 is the clip's input rows; level i + 1 has the output rows of convolution i. A level's rows begin before the
// first one or end after the last one where there is padding.
#pragma once

#include "base/arithmetic.h"
#include "layers/inputs/log_mel.h"
#include "layers/linear.h"
#include "layers/rows.h"
#include "model/frontend_view.h"

namespace goldcrest {
// Rows of a level; some may be outside of the clip. Numbers of samples fit 32 bits (kMaxClip).
struct Rows {
  int32_t first;
  uint32_t count;
  Rows within(uint32_t n) const;  // those of them below n
};

// The sums and the largest value that one task finds in a clip.
struct Measured {
  int64_t sum, squares;
  float largest;
};

// The parts of a task's scratch, in bytes from its start. They follow from the view.
struct ScratchParts {
  uint32_t rows[kMaxConvolutions];  // float: the input rows of each convolution
  uint32_t inputs, scales;          // quantized windows, with remainders
  uint32_t products;                // for fine inputs
  uint32_t transform;               // for the log-mel
  uint32_t end;
  uint32_t fine_floats;                 // in `products`
  uint32_t out_rows[kMaxConvolutions];  // most rows that a convolution computes at a time
};

ScratchParts parts_of(const FrontendView& view);

struct Stem {
  // Finds the rows of each level of the clip. Call this before anything below.
  void count_rows(const Sentence& sentence);

  Measured& measured() const { return *reinterpret_cast<Measured*>(scratch); }
  uint32_t n_rows(uint32_t level) const { return level_rows[level]; }

  // x <- encoder rows, [count, d_model padded].
  void run(const Rows& rows, float* x) const;

  // Adds the values of these rows of the first convolution to measured().
  void measure_values(const Rows& rows) const;

  // level(0) <- input rows. Values outside of the clip are zeros. Raises measured().largest to the largest feature of
  // these frames, if they are those of a log-mel.
  void load(Rows rows) const;

  float* level(uint32_t i) const { return reinterpret_cast<float*>(scratch + parts.rows[i]); }
  const float* positions(const Rows& rows) const;  // null: none are added
  Rows inputs_of(uint32_t i, const Rows& out) const;
  Samples window() const;
  // y <- activation(convolution i of its input rows in level(i)) + residual, for these rows inside of the clip.
  void convolve(uint32_t i, const Rows& rows, const float* residual, float* y) const;
  // Applies the first convolution's norm: that of layer norm, but with mean and variance over the whole clip.
  void normalize(float* y, uint32_t rows) const;

  const Runtime& runtime;
  const FrontendView& view;
  const ScratchParts& parts;
  uint8_t* scratch;
  const Clip& clip;
  uint32_t level_rows[kMaxConvolutions + 1] = {};
};
}  // namespace goldcrest
