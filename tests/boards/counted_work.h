// SPDX-License-Identifier: Apache-2.0
// Work whose instructions are counted: kernels on random data, and a model's searches.
#pragma once

#include <cstdint>
#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"

namespace goldcrest::test {
constexpr uint32_t kOutputs = 512, kMaxInputs = 512, kMaxRows = 4, kHeads = 4, kHeadWidth = 32, kKeys = 16;

struct Operands {
  alignas(64) int8_t w[kOutputs * kMaxInputs];
  alignas(64) int8_t q[kMaxRows * kMaxInputs];
  alignas(64) float x[kMaxRows * kMaxInputs];
  alignas(64) float y[kMaxRows * kOutputs];
  alignas(64) float w_scale[kOutputs], bias[kOutputs], row_scale[kMaxRows];
  alignas(64) int32_t weight_sum[kOutputs];
  alignas(64) float weights[kKeys], cache_scales[kKeys * kHeads];
  alignas(64) int8_t query[kHeadWidth];
};
extern Operands operands;

void fill_operands();

LinearArgs<int8_t> linear_args(uint32_t rows, uint32_t n, uint32_t k, Layout layout);

// Multiply-accumulates an instruction with kOutputs outputs and k inputs; includes the epilogue, not the quantization.
double linear_rate(const Kernels& table, uint32_t rows, uint32_t k, Layout layout);

constexpr const char* kCountedWords[] = {"goldcrest", "translation", "heap", "microcontroller", "through"};
constexpr uint32_t kNCountedWords = sizeof kCountedWords / sizeof *kCountedWords;

struct CountedModel {
  const char* name;
  const void* file;
  size_t file_bytes;
  goldcrest_limits limits;
  const char* const* sources;  // [n_sources]
  uint32_t n_sources;
};

struct SearchCost {
  uint64_t instructions;
  uint32_t steps, tokens;
};

// Searches all sources, with at most `max_target_tokens` each. Negative: a status.
int search_all(goldcrest_engine* engine, const CountedModel& model, uint32_t beam_size, uint32_t max_target_tokens,
    SearchCost* cost);
}  // namespace goldcrest::test
