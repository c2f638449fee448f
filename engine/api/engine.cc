// SPDX-License-Identifier: Apache-2.0
// The stages of a search, one bounded piece of work a step.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "base/arithmetic.h"
#include "decoding/outputs/output_choice.h"
#include "decoding/outputs/output_layer.h"
#include "layers/inputs/frontend.h"

namespace goldcrest {
namespace {
// Runs an encoding stage on one block of rows.
void encode_block(const goldcrest_engine& engine, Range block) {
  const Runtime& runtime = engine.runtime;
  const uint32_t layer = engine.progress.layer;
  if (has_frontend(runtime.model) && engine.progress.stage == Stage::kMeasure)
    return run_frontend(runtime, engine.encoder.frontend, engine.batch, block, nullptr);
  switch (engine.progress.stage) {
    case Stage::kEmbed: return encoder_embed(runtime, engine.encoder, engine.batch, block);
    case Stage::kEncoderKeys: return encoder_layer_keys(runtime, engine.encoder, engine.batch, layer, block);
    case Stage::kEncoderRest: return encoder_layer_rest(runtime, engine.encoder, engine.batch, layer, block);
    default: return decoder_layer_source_keys(runtime, engine.decoder, {engine.encoder, engine.batch, block}, layer);
  }
}

Stage stage_after_encoder(const goldcrest_engine& engine) {
  return chooses_outputs(engine.options) ? Stage::kCandidates : Stage::kDecoderLayer;
}

// Returns the stage after the one that all rows have passed. Reports the weights that are not read again.
Progress next_stage(const goldcrest_engine& engine) {
  const Runtime& runtime = engine.runtime;
  const uint32_t layer = engine.progress.layer;
  switch (engine.progress.stage) {
    case Stage::kMeasure: return {Stage::kEmbed, 0, 0};
    case Stage::kEmbed:
      if (has_frontend(runtime.model)) report_idle_frontend(runtime.idle, runtime.model.file);
      return {Stage::kEncoderKeys, 0, 0};
    case Stage::kEncoderKeys: return {Stage::kEncoderRest, layer, 0};
    case Stage::kEncoderRest:
      report_idle_encoder_layer(runtime.idle, runtime.model.file, layer);
      if (layer + 1 < runtime.model.encoder.n_layers) return {Stage::kEncoderKeys, layer + 1, 0};
      return {Stage::kSourceKeys, 0, 0};
    default:
      report_idle_source_keys(runtime.idle, runtime.model.file, layer);
      if (layer + 1 < runtime.model.decoder.n_layers) return {Stage::kSourceKeys, layer + 1, 0};
      return {stage_after_encoder(engine), 0, 0};
  }
}

// Chooses the candidates of the next sentence; after the last one decoding starts.
void choose_candidates(goldcrest_engine& engine) {
  Progress& progress = engine.progress;
  choose_outputs(engine.runtime, engine.buffers, engine.batch, progress.first_row);
  if (++progress.first_row == engine.batch.n_sentences) progress = {Stage::kDecoderLayer, 0, 0};
}

// Checks, when clips have been read for the last time, that they are what they were when they were given.
int check_heard(goldcrest_engine& engine) {
  if (engine.progress.stage != Stage::kEmbed || !has_frontend(engine.runtime.model)) return GOLDCREST_OK;
  if (were_same(engine.batch)) return GOLDCREST_OK;
  engine_clear(engine);
  return fail(*engine.detail, GOLDCREST_ERROR_STATE, "clip: its samples have changed since they were given");
}

// Returns the first stage of encoding.
Stage first_stage(const goldcrest_engine& engine) {
  const Runtime& runtime = engine.runtime;
  return has_frontend(runtime.model) && view_frontend(runtime.model.file).measures() ? Stage::kMeasure : Stage::kEmbed;
}

int encode_step(goldcrest_engine& engine) {
  Progress& progress = engine.progress;
  if (chooses_outputs(engine.options) && progress.stage == Stage::kCandidates) {
    choose_candidates(engine);
  } else if (progress.stage != Stage::kDecoderLayer) {
    const uint32_t count = smaller(engine.batch.n_rows - progress.first_row, engine.runtime.limits.encoder_rows);
    encode_block(engine, {progress.first_row, count});
    progress.first_row += count;
    if (progress.first_row < engine.batch.n_rows) return GOLDCREST_WORKING;
    GOLDCREST_TRY(check_heard(engine));
    progress = next_stage(engine);
  }
  if (progress.stage != Stage::kDecoderLayer) return GOLDCREST_WORKING;
  if (kHasDrafts) engine.step.draft = engine.draft;
  start_search(engine.options, engine.buffers, &engine.step);
  engine.state = EngineState::kDecoding;
  return GOLDCREST_WORKING;
}

// Runs one stage of a target position. Returns whether the position is complete.
bool decode_stage(goldcrest_engine& engine, int32_t* token) {
  const Runtime& runtime = engine.runtime;
  const SearchBuffers& buffers = engine.buffers;
  SearchStep& step = engine.step;
  Progress& progress = engine.progress;
  const bool runs_layer = step.runs_layers && progress.stage == Stage::kDecoderLayer;
  if (runs_layer && progress.layer == 0) list_rows(engine.options, buffers, &step);
  const TargetRows rows = target_rows(buffers, step);
  if (runs_layer) {
    if (progress.layer == 0) embed_rows(runtime, engine.decoder, rows, buffers.tokens);
    decoder_layer(runtime, engine.decoder, rows, progress.layer);
    if (++progress.layer == runtime.model.decoder.n_layers) progress.stage = Stage::kOutput;
    return false;
  }
  const auto output = [&] {
    return OutputStep{runtime, engine.decoder, engine.options, rows, buffers.tokens, buffers.targets, buffers.sentences,
        buffers.top_tokens, buffers.shortlist, engine.batch.ids};
  };
  if (step.runs_layers && has_lexicon(engine.options)) follow_lexicon(output());
  if (step.runs_output) run_output_layer(output());
  *token = advance_search(runtime, engine.options, buffers, &step);
  progress = {Stage::kDecoderLayer, 0, 0};
  return true;
}

int decode_step(goldcrest_engine& engine, int32_t* token) {
  int32_t chosen = -1;
  bool complete = decode_stage(engine, &chosen);
  while (!complete && engine.step_size == GOLDCREST_STEP_POSITION) complete = decode_stage(engine, &chosen);
  if (!complete) return GOLDCREST_WORKING;

  const bool finished = engine.step.n_rows == 0;
  const bool chooses = !scores_targets(engine.options);
  if (engine.batch.n_sentences == 1 && engine.options.strategy->one_hypothesis && chooses) {
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
    case EngineState::kSourcesEncoded: {
      bool follows_targets = false;
      if (takes_targets(engine.runtime.limits)) GOLDCREST_TRY(choose_targets(engine, &follows_targets));
      set_options(engine.runtime, engine.next_search, engine.batch.n_sentences, follows_targets, &engine.options);
      engine.runtime.model.coarse = (engine.next_search.flags & GOLDCREST_SEARCH_COARSE) != 0;
      const bool is_encoded = engine.state == EngineState::kSourcesEncoded;
      engine.progress = {is_encoded ? stage_after_encoder(engine) : first_stage(engine), 0, 0};
      engine.state = EngineState::kEncoding;
      return encode_step(engine);
    }
    case EngineState::kEncoding: return encode_step(engine);
    case EngineState::kDecoding: return decode_step(engine, token);
    case EngineState::kLastTokenGiven: engine.state = EngineState::kDone; return GOLDCREST_DONE;
    case EngineState::kDone: return GOLDCREST_DONE;
    case EngineState::kIdle: break;
  }
  return fail(*engine.detail, GOLDCREST_ERROR_STATE, "no source was given");
}

void engine_clear(goldcrest_engine& engine) {
  engine.state = EngineState::kIdle;
  engine.batch.n_sentences = 0;
  engine.batch.n_rows = 0;
}
}  // namespace goldcrest

using namespace goldcrest;

extern "C" int goldcrest_step(goldcrest_engine* engine, int32_t* token) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  return engine_step(*engine, token);
}

extern "C" int goldcrest_run(goldcrest_engine* engine) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  int status = GOLDCREST_WORKING;
  while (status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN) status = engine_step(*engine, nullptr);
  return status;
}

extern "C" int goldcrest_search_again(goldcrest_engine* engine) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  const bool is_encoded = engine->state >= EngineState::kDecoding || engine->state == EngineState::kSourcesEncoded;
  if (!is_encoded) return fail(*engine->detail, GOLDCREST_ERROR_STATE, "search_again: no source is encoded");
  for (uint32_t i = 0; i < engine->batch.n_sentences; ++i) forget_target(*engine, i);
  engine->state = EngineState::kSourcesEncoded;
  return GOLDCREST_OK;
}

extern "C" void goldcrest_reset(goldcrest_engine* engine) {
  if (usable(engine)) engine_clear(*engine);
}
