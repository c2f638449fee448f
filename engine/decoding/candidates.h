// SPDX-License-Identifier: Apache-2.0
// The best few tokens of each row, gathered block by block of the output layer, and the row's log-sum-exp.
//
// A row's candidates are ordered by logit, descending, then by token, ascending.
#pragma once

#include "layers/parallel.h"

namespace goldcrest {

// All but the block's sums are for each task, which lists the outputs that it computed.
struct CandidateRefs {
  BufferRef logits;     // float [rows, 256], the current block
  BufferRef block_max;  // float [rows, blocks of the vocabulary]
  BufferRef block_sum;  // float [rows, blocks of the vocabulary]
  BufferRef values;     // float [rows, (1 + end ids) * beam_size]
  BufferRef tokens;     // int32 [rows, (1 + end ids) * beam_size]
  BufferRef counts;     // uint32 [rows]
};

CandidateRefs plan_candidates(Plan& plan, const ModelView& model);

struct Candidates {
  float* logits;
  float* block_max;
  float* block_sum;
  float* values;
  int32_t* tokens;
  uint32_t* counts;
  uint32_t per_row;       // kept candidates of a row
  uint32_t n_blocks;      // of the rows' outputs
  uint32_t block_stride;  // from one row's sums to the next row's

  float* row_values(uint32_t row) const { return values + size_t{row} * per_row; }
  int32_t* row_tokens(uint32_t row) const { return tokens + size_t{row} * per_row; }

  bool is_full(uint32_t row) const { return counts[row] == per_row; }

  // What a value must exceed to enter a row's list.
  float threshold(uint32_t row) const { return is_full(row) ? row_values(row)[per_row - 1] : -__builtin_huge_valf(); }
};

// The lists of a task, for rows that have so many outputs; after merge_candidates, those of task 0 are of all of them.
Candidates candidates(const Runtime& runtime, const CandidateRefs& refs, uint32_t per_row, uint32_t n_outputs,
                      uint32_t task);

// Whether logits of an output block, whose block_max is known, can still enter the candidates of a row.
bool may_enter(const Candidates& candidates, uint32_t row, uint32_t block);

// Puts a token into its place in a row's full or partial list; a full list loses its last.
void insert_candidate(const Candidates& candidates, uint32_t row, float value, int32_t token);

// Merges a row's candidates among other outputs into `into`.
void merge_candidates(const Candidates& into, const Candidates& others, uint32_t row);

// M + log(sum over blocks of s_b * exp(m_b - M)), M = max m_b, in block order.
float log_sum_exp(const Candidates& candidates, uint32_t row);

}  // namespace goldcrest
