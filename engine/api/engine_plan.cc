// SPDX-License-Identifier: Apache-2.0
// Collects every layer's buffers into one plan, counts the work of a step, and tells how much memory a file needs.
#include "base/exact_floats.h"
#include "api/engine_plan.h"
#include "api/engine.h"
#include "api/limits.h"
#include "backends/backend.h"
#include "base/arithmetic.h"
#include "base/build_options.h"
#include "layers/inputs/frontend.h"
#include "text/tokenizer.h"

namespace goldcrest {
EngineRefs plan_engine(Plan& plan, const ModelView& model, const void* file) {
  EngineRefs refs;
  refs.engine = plan.add("engine", Phase::kAlways, Region::kMain, {kEngineBytes, 0, {}});
  if (has_frontend(model)) {
    static_assert(sizeof(Clip) == 48, "the same on every machine");
    refs.clips =
        plan.add("source.audio", Phase::kAlways, Region::kMain, {0, sizeof(Clip), {GOLDCREST_FACTOR_BATCH, 0, 0, 0}});
  } else {
    refs.source_ids = plan.add("source.ids", Phase::kAlways, Region::kMain,
        {0, 4, {GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0, 0}});
  }
  refs.sentences = plan.add(
      "source.extents", Phase::kAlways, Region::kMain, {0, sizeof(Sentence), {GOLDCREST_FACTOR_BATCH, 0, 0, 0}});
  BufferSize text = {};
  TokenizerView tokenizer;
  if (view_tokenizer(file, &tokenizer)) {
    const ScratchSize scratch = tokenizer_scratch(tokenizer);
    text = {scratch.constant, scratch.per_byte, {GOLDCREST_FACTOR_SOURCE_BYTES, 0, 0, 0}};
  }
  refs.text_scratch = plan.add("text.scratch", Phase::kText, Region::kMain, text);
  refs.encoder = plan_encoder(plan, model);
  refs.decoder = plan_decoder(plan, model);
  refs.search = plan_search(plan, model);
  return refs;
}

namespace {
// Returns the multiply-accumulates of the largest step of this size.
[[gnu::noinline]] uint64_t largest_step_macs(
    const ModelView& model, const void* file, const goldcrest_limits& limits, uint32_t step_size) {
  const DecoderMacs decoder = decoder_macs(model, limits);
  const uint64_t passes = (limits.beam_size > 1 ? model.output_passes : 1) *
                          products_of_rows(model.projection.has_remainders()) *
                          (model.projection.rows_to_second() != 0 ? 2 : 1);
  // A shortlist makes this cheaper except for sentences that exceed max_candidates, so count the full vocabulary.
  // Copying a shortlist's panels moves fewer weights than these.
  const uint64_t output = passes * limits.beam_size * limits.batch * model.decoder.d_model_padded * model.projection.n;
  const uint64_t decode =
      step_size == GOLDCREST_STEP_LAYER ? larger(decoder.largest_layer, output) : decoder.layers + output;
  const uint64_t encode = larger(largest_encoder_step_macs(model, limits), decoder.source_keys);
  const uint64_t heard = has_frontend(model) ? largest_frontend_step_macs(view_frontend(file), limits) : 0;
  return larger(larger(encode, decode), heard);
}

void fill_work(const ModelView& model, const void* file, goldcrest_memory* memory) {
  const goldcrest_limits& limits = memory->limits;
  memory->step_macs = largest_step_macs(model, file, limits, GOLDCREST_STEP_POSITION);
  memory->layer_step_macs = largest_step_macs(model, file, limits, GOLDCREST_STEP_LAYER);
  TokenizerView tokenizer;
  const bool takes_text = view_tokenizer(file, &tokenizer) && limits.max_source_bytes > 0;
  memory->text_steps = takes_text ? tokenizer_steps(tokenizer, limits.max_source_bytes) : 0;
}
}  // namespace

void fill_memory(const Plan& plan, const goldcrest_limits& limits, goldcrest_memory* memory) {
  const auto both = [&](Phase phase) { return plan.used(Region::kMain, phase) + plan.used(Region::kScratch, phase); };
  memory->fixed_bytes = both(Phase::kAlways);
  memory->text_bytes = both(Phase::kText);
  memory->encode_bytes = both(Phase::kEncode);
  memory->decode_bytes = both(Phase::kDecode);
  memory->arena_bytes = memory->fixed_bytes + plan.longest_phase();
  memory->main_bytes = plan.used(Region::kMain, Phase::kAlways) + plan.longest_phase(Region::kMain);
  memory->scratch_bytes = plan.used(Region::kScratch, Phase::kAlways) + plan.longest_phase(Region::kScratch);
  memory->limits = limits;
}
}  // namespace goldcrest

using namespace goldcrest;

extern "C" {

int goldcrest_model_info(const void* model, size_t model_bytes, goldcrest_info* info, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(info != nullptr, GOLDCREST_ERROR_ARGUMENT, "info: null", -1);
  VerifyFunctions functions;
  GOLDCREST_TRY(metadata_functions(&functions, detail));
  GOLDCREST_TRY(validate_model(model, model_bytes, functions, detail));
  view_info(model, model_bytes, info);
  return GOLDCREST_OK;
}

// NOLINTNEXTLINE(readability-function-size): the C API's parameters
int goldcrest_plan_memory(const void* model, size_t model_bytes, const goldcrest_limits* limits,
    goldcrest_memory* memory, goldcrest_plan_function visit, void* visit_context, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(memory != nullptr, GOLDCREST_ERROR_ARGUMENT, "memory: null", -1);
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  goldcrest_limits resolved;
  goldcrest_detail unwanted;
  GOLDCREST_TRY(resolve_limits(
      info, limits != nullptr ? *limits : goldcrest_limits{}, &resolved, detail != nullptr ? *detail : unwanted));
  const ModelView view = view_model(model);
  Plan plan(resolved);
  (void)plan_engine(plan, view, model);
  GOLDCREST_REQUIRE(!plan.overflowed(), GOLDCREST_ERROR_ARGUMENT, "limits: too large together", -1);
  fill_memory(plan, resolved, memory);
  fill_work(view, model, memory);
  if (visit != nullptr) {
    Plan reported(resolved);
    reported.report_to(visit, visit_context, plan);
    (void)plan_engine(reported, view, model);
  }
  return GOLDCREST_OK;
}

int64_t goldcrest_arena_bytes(const void* model, size_t model_bytes, const goldcrest_limits* limits) {
  goldcrest_memory memory;
  GOLDCREST_TRY(goldcrest_plan_memory(model, model_bytes, limits, &memory, nullptr, nullptr, nullptr));
  return static_cast<int64_t>(memory.arena_bytes);
}

}  // extern "C"
