// SPDX-License-Identifier: Apache-2.0
// Makes an engine: checks the file, the caller's memory and this build, then makes the object.
#include "base/exact_floats.h"
#include <string.h>
#include "api/engine.h"
#include "api/engine_plan.h"
#include "api/limits.h"
#include "api/observe.h"
#include "backends/backend.h"
#include "base/build_options.h"
#include "layers/operations.h"
#include "model/validate.h"
#include "text/piece_lookup.h"

using namespace goldcrest;

namespace {
// Sets where the part of each region and phase begins, in one arena or in two regions.
void place_parts(const Plan& plan, const goldcrest_config& config, Runtime* runtime) {
  constexpr int kMain = static_cast<int>(Region::kMain), kScratch = static_cast<int>(Region::kScratch);
  for (int p = 0; p < kPhases; ++p) {
    const Phase phase = static_cast<Phase>(p);
    uint8_t* arena = static_cast<uint8_t*>(config.arena);
    if (config.scratch == nullptr) {
      runtime->part[kMain][p] = arena + plan.part_offset(Region::kMain, phase);
      runtime->part[kScratch][p] = arena + plan.part_offset(Region::kScratch, phase);
    } else {
      const bool always = phase == Phase::kAlways;
      runtime->part[kMain][p] = arena + (always ? 0 : plan.used(Region::kMain, Phase::kAlways));
      runtime->part[kScratch][p] =
          static_cast<uint8_t*>(config.scratch) + (always ? 0 : plan.used(Region::kScratch, Phase::kAlways));
    }
  }
}

// Lets the backend make its objects. The backend's table replaces the native one.
int prepare_backend(const goldcrest_config& config, BackendUse use, Runtime* runtime) {
  PrepareArgs args = {};
  args.model = config.model;
  args.model_bytes = config.model_bytes;
  args.native = runtime->kernels;
  args.limits = &runtime->limits;
  args.parallel_for = config.parallel_for;
  args.parallel_context = config.parallel_context;
  args.memory = config.backend_memory;
  args.memory_bytes = config.backend_bytes;
  args.use = use;
  return config.backend->prepare(*config.backend, args, &runtime->kernels, config.detail);
}

// Checks the options that do not depend on the file.
int check_options(const goldcrest_config& config, const KernelChoice& choice) {
  goldcrest_detail* detail = config.detail;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(choice.native != nullptr, bad, "kernels: no such table for this build and CPU", -1);
  GOLDCREST_REQUIRE(config.verify == GOLDCREST_VERIFY_FULL || config.verify == GOLDCREST_VERIFY_STRUCTURE, bad,
      "verify: not a goldcrest_verify", -1);
  GOLDCREST_REQUIRE(config.step_size == GOLDCREST_STEP_POSITION || config.step_size == GOLDCREST_STEP_LAYER, bad,
      "step_size: not a goldcrest_step_size", -1);
  GOLDCREST_REQUIRE(!kHasSystem || choice.use == BackendUse::kNone || config.backend != nullptr, bad,
      "kernels: xnnpack and fastest need goldcrest_config.backend (goldcrest/xnnpack.h)", -1);
  return GOLDCREST_OK;
}

int check_file(const goldcrest_config& config, const Kernels& kernels) {
  VerifyFunctions functions = {kernels.crc32c, nullptr, kernels.float32 != nullptr};
  if (config.verify == GOLDCREST_VERIFY_FULL) {
    functions.weights_valid = kernels.weights_valid;
    functions.idle = {config.idle_weights, config.idle_context};
  }
  return validate_model(config.model, config.model_bytes, functions, config.detail);
}

// Fills in the limits that the caller leaves open. A function of its own, so that its frame is gone when the kernels
// run.
[[gnu::noinline]] int fill_limits(const goldcrest_config& config, goldcrest_limits* limits) {
  goldcrest_info info;
  goldcrest_detail unwanted;
  view_info(config.model, config.model_bytes, &info);
  return resolve_limits(info, config.limits, limits, config.detail != nullptr ? *config.detail : unwanted);
}

// The same for its frame.
[[gnu::noinline]] int check_memory(const goldcrest_config& config, const Plan& plan, const goldcrest_limits& limits) {
  goldcrest_memory memory;
  fill_memory(plan, limits, &memory);
  goldcrest_detail* detail = config.detail;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  const bool split = config.scratch != nullptr;
  const uint64_t arena_bytes = split ? memory.main_bytes : memory.arena_bytes;
  GOLDCREST_REQUIRE(
      config.arena != nullptr && is_aligned(config.arena), bad, "arena: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(is_aligned(config.scratch), bad, "scratch: not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config.arena_bytes >= arena_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
      "arena: smaller than goldcrest_plan_memory says", byte_index(arena_bytes));
  GOLDCREST_REQUIRE(!split || config.scratch_bytes >= memory.scratch_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
      "scratch: smaller than goldcrest_plan_memory says", byte_index(memory.scratch_bytes));
  return GOLDCREST_OK;
}

// Sets the part of *runtime that the caller gives. The plan gives the rest.
void fill_runtime(const goldcrest_config& config, const Kernels& kernels, const ModelView& model,
    const goldcrest_limits& limits, Runtime* runtime) {
  runtime->kernels = &kernels;
  runtime->operations = operations_for(model.projection.weight_type);
  runtime->model = model;
  runtime->generation = view_generation(config.model);
  runtime->limits = limits;
  runtime->trace = config.trace;
  runtime->trace_context = config.trace_context;
  runtime->parallel_for = config.parallel_for;
  runtime->parallel_context = config.parallel_context;
  runtime->idle = {config.idle_weights, config.idle_context};
  runtime->threads = config.trace != nullptr ? 1 : limits.threads;
}

// Sets the parts of the engine that point into its memory.
void place_state(const EngineRefs& refs, goldcrest_engine* engine) {
  const Runtime& runtime = engine->runtime;
  engine->batch.sentences = runtime.buffer<Sentence>(refs.sentences);
  if (has_frontend(runtime.model)) engine->batch.clips = runtime.buffer<Clip>(refs.clips);
  else engine->batch.ids = runtime.buffer<int32_t>(refs.source_ids);
  engine->batch.row_capacity = size_t{runtime.limits.max_source_tokens} * runtime.limits.batch;
  engine->encoder = refs.encoder;
  engine->text_scratch = refs.text_scratch;
  engine->decoder = refs.decoder;
  place_search(runtime, refs.search, engine->batch, &engine->buffers);
}

[[maybe_unused]] void take_default_languages(goldcrest_engine* engine) {
  LanguagesView table;
  if (!view_languages(engine->runtime.model.file, &table)) return;
  choose_languages(table, {table.of_sources().by_default, table.of_targets().by_default}, &engine->languages);
}
}  // namespace

const Kernels* goldcrest::exchange_kernels(goldcrest_engine* engine, const Kernels* kernels) {
  const Kernels* const previous = engine->runtime.kernels;
  engine->runtime.kernels = kernels;
  return previous;
}

extern "C" {

int goldcrest_init(goldcrest_engine** engine, const goldcrest_config* config) {
  if (engine == nullptr || config == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  *engine = nullptr;
  goldcrest_detail* detail = config->detail;
  const KernelChoice choice = choose_kernels(config->kernels);
  GOLDCREST_TRY(check_options(*config, choice));
  const Kernels& kernels = *choice.native;
  GOLDCREST_TRY(check_file(*config, kernels));

  goldcrest_limits limits;
  GOLDCREST_TRY(fill_limits(*config, &limits));
  const ModelView model = view_model(config->model);
  Plan plan(limits);
  const EngineRefs refs = plan_engine(plan, model, config->model);
  GOLDCREST_REQUIRE(!plan.overflowed(), GOLDCREST_ERROR_ARGUMENT, "limits: too large together", -1);
  GOLDCREST_TRY(check_memory(*config, plan, limits));
  static_assert(kBuildCheckBytes <= kEngineBytes, "the build check runs in the slot of the engine");
  GOLDCREST_REQUIRE(kernels_compute_reference_bits(kernels, config->arena), GOLDCREST_ERROR_BUILD,
      "kernels: other bits than the reference; compile with -ffp-contract=off and without -ffast-math", -1);

  goldcrest_engine* made = static_cast<goldcrest_engine*>(config->arena);
  memset(static_cast<void*>(made), 0, sizeof *made);
  fill_runtime(*config, kernels, model, limits, &made->runtime);
  place_parts(plan, *config, &made->runtime);
  if (kHasSystem && choice.use != BackendUse::kNone)
    GOLDCREST_TRY(prepare_backend(*config, choice.use, &made->runtime));
  place_state(refs, made);
  made->model_bytes = config->model_bytes;
  made->step_size = config->step_size;
  made->language = kNoEntry;
  if constexpr (kHasText) take_default_languages(made);
  made->detail = detail != nullptr ? detail : &made->unwanted;
  if constexpr (kHasSearch) use_sequences(*made, view_sequences(config->model));
  made->magic = kEngineMagic;
  *engine = made;
  take_default_search(made);
  if constexpr (kHasShortlist) take_default_lexicon(made);
  return GOLDCREST_OK;
}

const char* goldcrest_kernels_name(const goldcrest_engine* engine) {
  return usable(engine) ? engine->runtime.kernels->name : "";
}

const char* goldcrest_kernels_at(uint32_t index) {
  const Kernels* kernels = kernels_at(index);
  return kernels != nullptr ? kernels->name : nullptr;
}

}  // extern "C"
