// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of a model's searches.
#pragma once

#include <cstdint>

#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

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
