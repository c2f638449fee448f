// SPDX-License-Identifier: Apache-2.0
// The engine object, which lives at the start of the caller's arena, and its state machine.
#pragma once

#include "base/status.h"
#include "decoding/search.h"

namespace goldcrest {

// Where everything lies. The plan is the same for the size query and for the engine.
struct EngineRefs {
  BufferRef engine;
  BufferRef source_ids;    // int32 [source tokens, batch], sentences one after another
  BufferRef sources;       // Source [batch]
  BufferRef text_scratch;  // for the tokenizer
  EncoderRefs encoder;
  DecoderRefs decoder;
  SearchRefs search;
};

constexpr uint32_t kEngineBytes = 2048;  // reserved for the engine object, the same on every machine

// Collects the buffers of all layers. `tokenizer`: null when the file has none.
EngineRefs plan_engine(Plan& plan, const ModelView& model, const TokenizerView* tokenizer);

// Multiply-accumulates of the largest step, by its size.
uint64_t largest_step_macs(const ModelView& model, const goldcrest_limits& limits, uint32_t step_size);

enum class EngineState : uint32_t { kIdle, kSourcesStored, kEncoding, kDecoding, kLastTokenGiven, kDone };

}  // namespace goldcrest

struct goldcrest_engine {
  uint32_t magic;
  goldcrest::EngineState state;
  goldcrest::Runtime runtime;
  goldcrest::EngineRefs refs;
  goldcrest::Search search;
  size_t model_bytes;
  goldcrest_search options;  // for the next sources
  uint32_t step_size;
  goldcrest_detail* detail;
  uint32_t n_source_rows;  // of the sources stored so far
  uint32_t stage;          // of encoding, or of the current decoding position
  uint32_t first_row;      // of the next encoder block in this stage
};

namespace goldcrest {

static_assert(sizeof(goldcrest_engine) <= kEngineBytes, "the engine object must fit its slot");

constexpr uint32_t kEngineMagic = 0x476f6c64;  // set while an engine is usable

// One bounded piece of work; see goldcrest_step.
int engine_step(goldcrest_engine& engine, int32_t* token);

// Forgets the sources and starts over.
void engine_clear(goldcrest_engine& engine);

// Where the next source's ids go, and how many fit.
int32_t* next_source_ids(const goldcrest_engine& engine);

// Appends a source of n ids that lie at next_source_ids. Returns its index.
int append_source(goldcrest_engine& engine, uint32_t n);

}  // namespace goldcrest
