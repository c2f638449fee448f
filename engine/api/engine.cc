// SPDX-License-Identifier: Apache-2.0
#include "api/engine.h"

namespace goldcrest {

namespace {

SourceBatch source_batch(const goldcrest_engine& engine) {
  const goldcrest_limits& limits = engine.search.limits;
  return {engine.runtime.buffer<Source>(engine.refs.sources), engine.runtime.buffer<int32_t>(engine.refs.source_ids),
          engine.search.n_sentences, engine.n_source_rows, size_t{limits.max_source_tokens} * limits.batch};
}

// One block of rows of one stage: the embeddings, two passes a layer, then each decoder layer's memory.
void encode_block(const goldcrest_engine& engine, Range block) {
  const Runtime& runtime = engine.runtime;
  const SourceBatch batch = source_batch(engine);
  const uint32_t n_layers = runtime.model.encoder.n_layers;
  if (engine.stage == 0) {
    encoder_embed(runtime, engine.refs.encoder, batch, block);
  } else if (engine.stage > 2 * n_layers) {
    decoder_layer_memory(runtime, engine.refs.encoder, engine.refs.decoder, batch, engine.stage - 2 * n_layers - 1,
                         block);
  } else if (engine.stage % 2 == 1) {
    encoder_layer_keys(runtime, engine.refs.encoder, batch, (engine.stage - 1) / 2, block);
  } else {
    encoder_layer_rest(runtime, engine.refs.encoder, batch, (engine.stage - 1) / 2, block);
  }
}

// A stage is complete: its weights have had all rows of all sources.
void report_idle_stage(const goldcrest_engine& engine) {
  const Runtime& runtime = engine.runtime;
  const uint32_t n_layers = runtime.model.encoder.n_layers;
  if (engine.stage > 2 * n_layers) {
    report_idle_memory(runtime.idle, runtime.file, engine.stage - 2 * n_layers - 1);
  } else if (engine.stage != 0 && engine.stage % 2 == 0) {
    report_idle_encoder_layer(runtime.idle, runtime.file, (engine.stage - 1) / 2);
  }
}

int encode_step(goldcrest_engine& engine) {
  const uint32_t left = engine.n_source_rows - engine.first_row;
  const uint32_t count = left < engine.search.limits.encoder_rows ? left : engine.search.limits.encoder_rows;
  encode_block(engine, {engine.first_row, count});
  engine.first_row += count;
  if (engine.first_row < engine.n_source_rows) return GOLDCREST_WORKING;
  report_idle_stage(engine);
  engine.first_row = 0;
  if (++engine.stage <= 2 * engine.runtime.model.encoder.n_layers + engine.runtime.model.decoder.n_layers) {
    return GOLDCREST_WORKING;
  }
  search_start(engine.runtime, engine.search);
  engine.stage = 0;
  engine.state = EngineState::kDecoding;
  return GOLDCREST_WORKING;
}

// One decoder layer of the current position (the first with the embedding), or the output layer and the choice.
// Returns whether the position is complete.
bool decode_stage(goldcrest_engine& engine, int32_t* token) {
  const Runtime& runtime = engine.runtime;
  Search& search = engine.search;
  const Choice choice = next_choice(runtime, search);
  const bool hashing = hashes_logits(search.options);  // every position's, also where the token is forced
  if ((choice != Choice::kForcedEnd || hashing) && engine.stage < runtime.model.decoder.n_layers) {
    if (engine.stage == 0) search_embed(runtime, search);
    decoder_layer(runtime, search.decoder, target_rows(runtime, search), engine.stage);
    ++engine.stage;
    return false;
  }
  if (choice == Choice::kByScore || hashing) search_output(runtime, search);
  *token = search_advance(runtime, search, choice);
  engine.stage = 0;
  return true;
}

int decode_step(goldcrest_engine& engine, int32_t* token) {
  int32_t chosen = -1;
  bool complete = decode_stage(engine, &chosen);
  while (!complete && engine.step_size == GOLDCREST_STEP_POSITION) complete = decode_stage(engine, &chosen);
  if (!complete) return GOLDCREST_WORKING;

  const bool finished = engine.search.n_rows == 0;
  if (engine.search.n_sentences == 1 && engine.search.options.beam_size == 1) {
    if (finished) engine.state = EngineState::kLastTokenGiven;
    if (token != nullptr) *token = chosen;
    return GOLDCREST_TOKEN;
  }
  if (!finished) return GOLDCREST_WORKING;
  engine.state = EngineState::kDone;
  return GOLDCREST_DONE;
}

}  // namespace

int engine_step(goldcrest_engine& engine, int32_t* token) {
  switch (engine.state) {
    case EngineState::kSourcesStored:
      engine.search.options = engine.options;
      engine.stage = 0;
      engine.first_row = 0;
      engine.state = EngineState::kEncoding;
      return encode_step(engine);
    case EngineState::kEncoding:
      return encode_step(engine);
    case EngineState::kDecoding:
      return decode_step(engine, token);
    case EngineState::kLastTokenGiven:
      engine.state = EngineState::kDone;
      return GOLDCREST_DONE;
    case EngineState::kDone:
      return GOLDCREST_DONE;
    case EngineState::kIdle:
      break;
  }
  return fail(engine.detail, GOLDCREST_ERROR_STATE, "no source was given");
}

void engine_clear(goldcrest_engine& engine) {
  engine.state = EngineState::kIdle;
  engine.search.n_sentences = 0;
  engine.n_source_rows = 0;
}

int32_t* next_source_ids(const goldcrest_engine& engine) {
  return engine.runtime.buffer<int32_t>(engine.refs.source_ids) + engine.n_source_rows;
}

int append_source(goldcrest_engine& engine, uint32_t n) {
  Source* sources = engine.runtime.buffer<Source>(engine.refs.sources);
  sources[engine.search.n_sentences] = {engine.n_source_rows, n};
  engine.n_source_rows += n;
  engine.state = EngineState::kSourcesStored;
  return static_cast<int>(engine.search.n_sentences++);
}

}  // namespace goldcrest
