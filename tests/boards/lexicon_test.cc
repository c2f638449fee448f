// SPDX-License-Identifier: Apache-2.0
// On the board, in a build with GOLDCREST_SHORTLIST: a target position of a search among ten texts takes at most a
// given share of the instructions that it takes without the lexicon. Only its token ids matter, so the models of two
// shapes have random weights.
#include <cstdio>
#include "board_api.h"
#include "goldcrest/decoding.h"
#include "instruction_count.h"
#include "model_base.h"
#include "model_enfr.h"
#include "model_wide.h"

namespace goldcrest::test {
namespace {
struct BoundModel {
  const char* name;
  const void* file;
  size_t file_bytes;
  goldcrest_limits limits;
  uint32_t most_thousandths;
};
const BoundModel kModels[] = {
    {"32,000 outputs, two small layers", model_wide, MODEL_WIDE_BYTES, MODEL_WIDE_LIMITS, 300},
    {"32,000 outputs, base", model_base, MODEL_BASE_BYTES, MODEL_BASE_LIMITS, 650},
    {"English to French", model_enfr, MODEL_ENFR_BYTES, MODEL_ENFR_LIMITS, 650},
};
alignas(GOLDCREST_ALIGN) uint8_t arena[1536 * 1024];

// Ten texts of five ids. Two of them at a time share their first id, and all others differ.
constexpr uint32_t kTexts = 10, kLength = 5, kFirsts = kTexts / 2;
constexpr uint32_t kNodes = 1 + kFirsts + kTexts * (kLength - 1), kEdges = kNodes - 1 + kTexts;
struct TenTexts {
  uint32_t first_edge[kNodes + 1] = {};
  goldcrest_lexicon_edge edges[kEdges] = {};
  uint32_t n_nodes = 0, n_edges = 0;

  constexpr void add_edge(uint32_t token, uint32_t child) { edges[n_edges++] = {token, child}; }
  constexpr void end_node() { first_edge[++n_nodes] = n_edges; }

  constexpr TenTexts() {
    uint32_t next = 1;
    for (uint32_t i = 0; i < kFirsts; ++i) add_edge(100 + 10 * i, next++);
    end_node();
    for (uint32_t i = 0; i < kFirsts; ++i) {
      add_edge(1000 + i, next++);
      add_edge(2000 + i, next++);
      end_node();
    }
    for (uint32_t depth = 2; depth < kLength; ++depth) {
      for (uint32_t i = 0; i < kTexts; ++i) {
        add_edge(500 * depth + 7 * i, next++);
        end_node();
      }
    }
    for (uint32_t i = 0; i < kTexts; ++i) {
      add_edge(GOLDCREST_LEXICON_END, GOLDCREST_LEXICON_STOP);
      end_node();
    }
  }
};
constexpr TenTexts kTenTexts;

// Measures the positions after the first one of a greedy search, kLength - 1 of them. Returns a status.
int count_position(goldcrest_engine* engine, uint64_t* instructions) {
  static const int32_t kSource[] = {20, 31, 42, 53, 64, 75, 86, 0};
  *instructions = 0;
  int status = goldcrest_begin(engine, kSource, 8);
  for (uint32_t n_tokens = 0; status >= 0 && status != GOLDCREST_DONE && n_tokens < kLength;) {
    const uint64_t start = board_ticks();
    status = goldcrest_step(engine, nullptr);
    const uint64_t found = instructions_since(start);
    if (status == GOLDCREST_TOKEN && ++n_tokens > 1) *instructions += found / (kLength - 1);
  }
  goldcrest_reset(engine);
  return status == GOLDCREST_DONE ? GOLDCREST_ERROR_STATE : status;
}

// Counts both ways. Returns a status.
int count_both(const BoundModel& model, uint64_t* unbound, uint64_t* bound) {
  goldcrest_config config = {.model = model.file,
      .model_bytes = model.file_bytes,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = model.limits};
  config.limits.lexicon = 1;
  config.limits.max_candidates = 16;
  config.verify = GOLDCREST_VERIFY_STRUCTURE;
  goldcrest_engine* engine = nullptr;
  int status = goldcrest_init(&engine, &config);
  goldcrest_search search = {.beam_size = 1, .length_penalty = 1.0f};
  search.min_target_tokens = kLength + 1;  // no text ends before it is measured
  if (status >= 0) status = goldcrest_set_search(engine, &search);
  if (status >= 0) status = count_position(engine, unbound);
  const goldcrest_lexicon lexicon = {kTenTexts.first_edge, kTenTexts.edges, kTenTexts.n_nodes, kTenTexts.n_edges};
  if (status >= 0) status = goldcrest_set_lexicon(engine, &lexicon);
  if (status >= 0) status = count_position(engine, bound);
  return status;
}
}  // namespace

bool passes() {
  if (!clock_counts_instructions()) return false;
  bool holds = true;
  for (const BoundModel& model : kModels) {
    uint64_t unbound = 0, bound = 0;
    if (const int status = count_both(model, &unbound, &bound); status < 0) {
      std::printf("%s: %s\n", model.name, goldcrest_status_string(status));
      return false;
    }
    const bool is_held = bound * 1000 <= unbound * model.most_thousandths;
    std::printf("%s: %u thousand instructions a position, %u without the lexicon, 0.%03u of them, at most 0.%03u: %s\n",
        model.name, static_cast<unsigned>(bound / 1000), static_cast<unsigned>(unbound / 1000),
        static_cast<unsigned>(bound * 1000 / unbound), static_cast<unsigned>(model.most_thousandths),
        is_held ? "held" : "NOT HELD");
    holds &= is_held;
  }
  return holds;
}
}  // namespace goldcrest::test
