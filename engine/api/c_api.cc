// SPDX-License-Identifier: Apache-2.0
// The C API: argument checks, then one call inward.
#include <cstring>

#include "api/engine.h"
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "model/validate.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"

using namespace goldcrest;

namespace {

uint32_t value_or(uint32_t value, uint32_t fallback) { return value != 0 ? value : fallback; }

// Fills in the defaults and checks the ranges of goldcrest_limits.
int resolve_limits(const goldcrest_info& info, const goldcrest_limits& wanted, goldcrest_limits* limits,
                   goldcrest_detail* detail) {
  limits->max_source_tokens = value_or(wanted.max_source_tokens, info.limits.max_source_tokens);
  limits->max_source_bytes = wanted.max_source_bytes;
  limits->max_target_tokens = value_or(wanted.max_target_tokens, info.limits.max_target_tokens);
  limits->beam_size = value_or(wanted.beam_size, info.limits.beam_size);
  limits->batch = value_or(wanted.batch, 1);
  limits->n_best = value_or(wanted.n_best, 1);
  limits->encoder_rows = value_or(wanted.encoder_rows, info.limits.encoder_rows);
  limits->threads = value_or(wanted.threads, 1);
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(limits->max_source_tokens <= info.max_source_positions, bad,
                    "limits.max_source_tokens: more than the model's positions", -1);
  GOLDCREST_REQUIRE(limits->max_target_tokens <= info.max_target_positions, bad,
                    "limits.max_target_tokens: more than the model's positions", -1);
  GOLDCREST_REQUIRE(limits->max_source_bytes <= kMaxSourceBytes, bad, "limits.max_source_bytes: above 16 MiB", -1);
  GOLDCREST_REQUIRE(limits->max_source_bytes == 0 || info.has_tokenizer, GOLDCREST_ERROR_UNSUPPORTED,
                    "limits.max_source_bytes: the model has no tokenizer", -1);
  GOLDCREST_REQUIRE(limits->beam_size <= kMaxBeams, bad, "limits.beam_size: above 16", -1);
  GOLDCREST_REQUIRE(limits->batch <= kMaxBatch, bad, "limits.batch: above 256", -1);
  GOLDCREST_REQUIRE(limits->n_best <= limits->beam_size, bad, "limits.n_best: above beam_size", -1);
  GOLDCREST_REQUIRE(limits->encoder_rows <= kMaxEncoderRows, bad, "limits.encoder_rows: above 1024", -1);
  GOLDCREST_REQUIRE(limits->threads <= kMaxThreads, bad, "limits.threads: above 64", -1);
  return GOLDCREST_OK;
}

// Fills in the defaults and checks the ranges of goldcrest_search.
int resolve_search(const goldcrest_limits& limits, const goldcrest_search& wanted, goldcrest_search* search,
                   goldcrest_detail* detail) {
  *search = wanted;
  search->beam_size = value_or(wanted.beam_size, limits.beam_size);
  search->max_target_tokens = value_or(wanted.max_target_tokens, limits.max_target_tokens);
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  GOLDCREST_REQUIRE(search->beam_size <= limits.beam_size, bad, "search.beam_size: above the limits'", -1);
  GOLDCREST_REQUIRE(search->max_target_tokens <= limits.max_target_tokens, bad,
                    "search.max_target_tokens: above the limits'", -1);
  GOLDCREST_REQUIRE(search->min_target_tokens <= search->max_target_tokens, bad,
                    "search.min_target_tokens: above max_target_tokens", -1);
  GOLDCREST_REQUIRE(search->length_penalty >= kMinLengthPenalty && search->length_penalty <= kMaxLengthPenalty, bad,
                    "search.length_penalty: outside [-2, 4]", -1);
  GOLDCREST_REQUIRE(search->word_penalty >= kMinWordPenalty && search->word_penalty <= kMaxWordPenalty, bad,
                    "search.word_penalty: outside [-1024, 1024]", -1);
  const uint32_t known_flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;
  GOLDCREST_REQUIRE((search->flags & ~known_flags) == 0, bad, "search.flags: unknown bits", -1);
  return GOLDCREST_OK;
}

// The file's own search, as far as the limits reach.
goldcrest_search default_search(const goldcrest_info& info, const goldcrest_limits& limits) {
  goldcrest_search search = info.search;
  search.beam_size = limits.beam_size;
  search.max_target_tokens = smaller(search.max_target_tokens, limits.max_target_tokens);
  search.min_target_tokens = smaller(search.min_target_tokens, search.max_target_tokens);
  return search;
}

int check_metadata(const void* model, size_t model_bytes, goldcrest_detail* detail) {
  const Kernels* kernels = select_kernels(nullptr);
  GOLDCREST_REQUIRE(kernels != nullptr, GOLDCREST_ERROR_ARGUMENT,
                    "GOLDCREST_KERNELS: no such table for this build and CPU", -1);
  return validate_model(model, model_bytes, {kernels->crc32c, nullptr, kernels->float32 != nullptr, true}, detail);
}

EngineRefs plan_for(const void* model, const ModelView& view, Plan& plan) {
  TokenizerView tokenizer;
  return plan_engine(plan, view, view_tokenizer(model, &tokenizer) ? &tokenizer : nullptr);
}

void fill_memory(const ModelView& view, const Plan& plan, const goldcrest_limits& limits, goldcrest_memory* memory) {
  const auto both = [&](Phase phase) { return plan.used(Region::kMain, phase) + plan.used(Region::kScratch, phase); };
  memory->fixed_bytes = both(Phase::kAlways);
  memory->text_bytes = both(Phase::kText);
  memory->encode_bytes = both(Phase::kEncode);
  memory->decode_bytes = both(Phase::kDecode);
  memory->arena_bytes = memory->fixed_bytes + plan.longest_phase();
  memory->main_bytes = plan.used(Region::kMain, Phase::kAlways) + plan.longest_phase(Region::kMain);
  memory->scratch_bytes = plan.used(Region::kScratch, Phase::kAlways) + plan.longest_phase(Region::kScratch);
  memory->step_macs = largest_step_macs(view, limits, GOLDCREST_STEP_POSITION);
  memory->layer_step_macs = largest_step_macs(view, limits, GOLDCREST_STEP_LAYER);
  memory->limits = limits;
}

// Where each region's part for each phase begins, in one arena or in two regions.
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

// Lets the backend make its objects; its kernels take the place of the native ones.
int prepare_backend(const goldcrest_config& config, BackendUse use, const goldcrest_limits& limits, Runtime* runtime) {
  PrepareArgs args = {};
  args.model = config.model;
  args.model_bytes = config.model_bytes;
  args.native = runtime->kernels;
  args.limits = &limits;
  args.parallel_for = config.parallel_for;
  args.parallel_context = config.parallel_context;
  args.memory = config.backend_memory;
  args.memory_bytes = config.backend_bytes;
  args.use = use;
  Prepared prepared = {};
  GOLDCREST_TRY(config.backend->prepare(*config.backend, args, &prepared, config.detail));
  runtime->kernels = prepared.kernels;
  runtime->prepared = prepared.layers;
  runtime->n_prepared = prepared.n_layers;
  return GOLDCREST_OK;
}

bool usable(const goldcrest_engine* engine) { return engine != nullptr && engine->magic == kEngineMagic; }

// Room for one more source; `fresh` forgets the others first.
int open_source(goldcrest_engine* engine, bool fresh) {
  if (fresh) engine_clear(*engine);
  const bool adding = engine->state == EngineState::kSourcesStored;
  if (!fresh && !adding)
    return fail(engine->detail, GOLDCREST_ERROR_STATE, "add: begin first, and add before the first step");
  if (engine->search.n_sentences == engine->search.limits.batch) {
    return fail(engine->detail, GOLDCREST_ERROR_TOO_LONG, "batch: more sources than limits.batch");
  }
  return GOLDCREST_OK;
}

int store_ids(goldcrest_engine* engine, const int32_t* source, size_t n, bool fresh) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  GOLDCREST_REQUIRE(source != nullptr && n > 0, GOLDCREST_ERROR_ARGUMENT, "source: empty", -1);
  GOLDCREST_REQUIRE(n <= engine->search.limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG,
                    "source: more ids than limits.max_source_tokens",
                    static_cast<int32_t>(engine->search.limits.max_source_tokens));
  const uint32_t vocab_size = engine->runtime.model.encoder.embedding.vocab_size;
  for (size_t i = 0; i < n; ++i) {
    GOLDCREST_REQUIRE(source[i] >= 0 && static_cast<uint32_t>(source[i]) < vocab_size, GOLDCREST_ERROR_TOKEN_RANGE,
                      "source: id outside the vocabulary", static_cast<int32_t>(i));
  }
  GOLDCREST_TRY(open_source(engine, fresh));
  memmove(next_source_ids(*engine), source, n * sizeof *source);
  return append_source(*engine, static_cast<uint32_t>(n));
}

int store_text(goldcrest_engine* engine, const char* text, size_t text_bytes, bool fresh) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  const goldcrest_limits& limits = engine->search.limits;
  GOLDCREST_REQUIRE(text != nullptr || text_bytes == 0, GOLDCREST_ERROR_ARGUMENT, "text: null", -1);
  GOLDCREST_REQUIRE(limits.max_source_bytes != 0, GOLDCREST_ERROR_UNSUPPORTED,
                    "text: the engine was planned for token ids only (limits.max_source_bytes is 0)", -1);
  GOLDCREST_REQUIRE(text_bytes <= limits.max_source_bytes, GOLDCREST_ERROR_TOO_LONG,
                    "text: more bytes than limits.max_source_bytes", static_cast<int32_t>(limits.max_source_bytes));
  GOLDCREST_TRY(open_source(engine, fresh));
  TokenizerView tokenizer;
  if (!view_tokenizer(engine->runtime.file, &tokenizer)) return GOLDCREST_ERROR_UNSUPPORTED;  // limits were checked
  const GenerationView generation = view_generation(engine->runtime.file);
  const uint32_t around = generation.n_prefix + generation.n_suffix;
  const char* const too_many = "text: more tokens than limits.max_source_tokens";
  const int32_t limit = static_cast<int32_t>(limits.max_source_tokens);
  GOLDCREST_REQUIRE(around <= limits.max_source_tokens, GOLDCREST_ERROR_TOO_LONG, too_many, limit);

  int32_t* ids = next_source_ids(*engine);
  for (uint32_t i = 0; i < generation.n_prefix; ++i) *ids++ = static_cast<int32_t>(generation.source_prefix[i]);
  const ScratchSize scratch = tokenizer_scratch(tokenizer.kind);
  TokenizeArgs args = {};
  args.view = &tokenizer;
  args.text = text;
  args.text_bytes = text_bytes;
  args.scratch = engine->runtime.buffer<uint8_t>(engine->refs.text_scratch);
  args.scratch_bytes = size_t{scratch.constant} + size_t{scratch.per_byte} * limits.max_source_bytes;
  args.ids = ids;
  args.max_ids = limits.max_source_tokens - around;
  const int n = tokenize(args);
  if (n < 0)
    return fail(detail, static_cast<goldcrest_status>(n), n == GOLDCREST_ERROR_TOO_LONG ? too_many : "text", limit);
  ids += n;
  for (uint32_t i = 0; i < generation.n_suffix; ++i) *ids++ = static_cast<int32_t>(generation.source_suffix[i]);
  const uint32_t total = static_cast<uint32_t>(n) + around;
  GOLDCREST_REQUIRE(total > 0, GOLDCREST_ERROR_ARGUMENT, "text: no token at all", -1);
  return append_source(*engine, total);
}

}  // namespace

extern "C" {

const char* goldcrest_status_string(int status) {
  switch (status) {
    case GOLDCREST_OK:
      return "ok";
    case GOLDCREST_WORKING:
      return "working";
    case GOLDCREST_TOKEN:
      return "token";
    case GOLDCREST_DONE:
      return "done";
    case GOLDCREST_ERROR_ARGUMENT:
      return "bad argument";
    case GOLDCREST_ERROR_MODEL_CORRUPT:
      return "model file corrupt";
    case GOLDCREST_ERROR_MODEL_VERSION:
      return "model file of an unknown format version";
    case GOLDCREST_ERROR_UNSUPPORTED:
      return "not supported by this build";
    case GOLDCREST_ERROR_ARENA_TOO_SMALL:
      return "arena too small";
    case GOLDCREST_ERROR_TOKEN_RANGE:
      return "token id out of range";
    case GOLDCREST_ERROR_TOO_LONG:
      return "input too long for the limits";
    case GOLDCREST_ERROR_TRUNCATED:
      return "output buffer too small";
    case GOLDCREST_ERROR_STATE:
      return "call does not fit the engine's state";
    case GOLDCREST_ERROR_BUILD:
      return "this build computes wrong bits (compiler flags)";
    case GOLDCREST_ERROR_SELF_TEST:
      return "self-test failed";
    default:
      return "unknown status";
  }
}

int goldcrest_model_info(const void* model, size_t model_bytes, goldcrest_info* info, goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(info != nullptr, GOLDCREST_ERROR_ARGUMENT, "info: null", -1);
  GOLDCREST_TRY(check_metadata(model, model_bytes, detail));
  view_info(model, model_bytes, info);
  return GOLDCREST_OK;
}

int goldcrest_plan_memory(const void* model, size_t model_bytes, const goldcrest_limits* limits,
                          goldcrest_memory* memory, goldcrest_plan_function visit, void* visit_context,
                          goldcrest_detail* detail) {
  GOLDCREST_REQUIRE(memory != nullptr, GOLDCREST_ERROR_ARGUMENT, "memory: null", -1);
  goldcrest_info info;
  GOLDCREST_TRY(goldcrest_model_info(model, model_bytes, &info, detail));
  goldcrest_limits resolved;
  GOLDCREST_TRY(resolve_limits(info, limits != nullptr ? *limits : goldcrest_limits{}, &resolved, detail));
  const ModelView view = view_model(model);
  Plan plan(resolved);
  (void)plan_for(model, view, plan);
  GOLDCREST_REQUIRE(!plan.overflowed(), GOLDCREST_ERROR_ARGUMENT, "limits: too large together", -1);
  fill_memory(view, plan, resolved, memory);
  if (visit != nullptr) {
    Plan reported(resolved);
    reported.report_to(visit, visit_context, plan);
    (void)plan_for(model, view, reported);
  }
  return GOLDCREST_OK;
}

int64_t goldcrest_arena_bytes(const void* model, size_t model_bytes, const goldcrest_limits* limits) {
  goldcrest_memory memory;
  GOLDCREST_TRY(goldcrest_plan_memory(model, model_bytes, limits, &memory, nullptr, nullptr, nullptr));
  return static_cast<int64_t>(memory.arena_bytes);
}

int goldcrest_init(goldcrest_engine** engine, const goldcrest_config* config) {
  if (engine == nullptr || config == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  *engine = nullptr;
  goldcrest_detail* detail = config->detail;
  const goldcrest_status bad = GOLDCREST_ERROR_ARGUMENT;
  const Kernels* kernels = select_kernels(config->kernels);
  GOLDCREST_REQUIRE(kernels != nullptr, bad, "kernels: no such table for this build and CPU", -1);
  GOLDCREST_REQUIRE(config->verify == GOLDCREST_VERIFY_FULL || config->verify == GOLDCREST_VERIFY_STRUCTURE, bad,
                    "verify", -1);
  GOLDCREST_REQUIRE(config->step_size == GOLDCREST_STEP_POSITION || config->step_size == GOLDCREST_STEP_LAYER, bad,
                    "step_size", -1);
  const BackendUse use = backend_use(config->kernels);
  GOLDCREST_REQUIRE(use == BackendUse::kNone || config->backend != nullptr, bad,
                    "kernels: xnnpack and fastest need goldcrest_config.backend (goldcrest/xnnpack.h)", -1);
  const IdleWeights idle = {config->idle_weights, config->idle_context};
  VerifyFunctions functions = {kernels->crc32c, nullptr, kernels->float32 != nullptr};
  if (config->verify == GOLDCREST_VERIFY_FULL) {
    functions.weights_valid = kernels->weights_valid;
    functions.idle = idle;
  }
  GOLDCREST_TRY(validate_model(config->model, config->model_bytes, functions, detail));

  goldcrest_info info;
  view_info(config->model, config->model_bytes, &info);
  goldcrest_limits limits;
  GOLDCREST_TRY(resolve_limits(info, config->limits, &limits, detail));
  const ModelView view = view_model(config->model);
  Plan plan(limits);
  const EngineRefs refs = plan_for(config->model, view, plan);
  GOLDCREST_REQUIRE(!plan.overflowed(), bad, "limits: too large together", -1);
  goldcrest_memory memory;
  fill_memory(view, plan, limits, &memory);
  const bool split = config->scratch != nullptr;
  GOLDCREST_REQUIRE(config->arena != nullptr && is_aligned(config->arena), bad,
                    "arena: null or not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(is_aligned(config->scratch), bad, "scratch: not aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE(config->arena_bytes >= (split ? memory.main_bytes : memory.arena_bytes),
                    GOLDCREST_ERROR_ARENA_TOO_SMALL, "arena: smaller than goldcrest_plan_memory says", -1);
  GOLDCREST_REQUIRE(!split || config->scratch_bytes >= memory.scratch_bytes, GOLDCREST_ERROR_ARENA_TOO_SMALL,
                    "scratch: smaller than goldcrest_plan_memory says", -1);
  static_assert(kBuildCheckBytes <= kEngineBytes, "where the engine will lie");
  GOLDCREST_REQUIRE(kernels_compute_reference_bits(*kernels, config->arena), GOLDCREST_ERROR_BUILD,
                    "kernels: other bits than the reference; compile with -ffp-contract=off and without -ffast-math",
                    -1);

  goldcrest_engine* made = static_cast<goldcrest_engine*>(config->arena);
  memset(static_cast<void*>(made), 0, sizeof *made);
  made->runtime.file = static_cast<const uint8_t*>(config->model);
  made->runtime.kernels = kernels;
  made->runtime.model = view;
  made->runtime.trace = config->trace;
  made->runtime.trace_context = config->trace_context;
  made->runtime.parallel_for = config->parallel_for;
  made->runtime.parallel_context = config->parallel_context;
  made->runtime.idle = idle;
  made->runtime.threads = config->trace != nullptr ? 1 : limits.threads;
  place_parts(plan, *config, &made->runtime);
  if (use != BackendUse::kNone) GOLDCREST_TRY(prepare_backend(*config, use, limits, &made->runtime));
  made->refs = refs;
  made->search.refs = refs.search;
  made->search.decoder = refs.decoder;
  made->search.sources = refs.sources;
  made->search.limits = limits;
  made->options = default_search(info, limits);
  made->model_bytes = config->model_bytes;
  made->step_size = config->step_size;
  made->detail = detail;
  made->magic = kEngineMagic;
  *engine = made;
  return GOLDCREST_OK;
}

const char* goldcrest_kernels_name(const goldcrest_engine* engine) {
  return usable(engine) ? engine->runtime.kernels->name : "";
}

const char* goldcrest_kernels_at(uint32_t index) {
  const Kernels* kernels = kernels_at(index);
  return kernels != nullptr ? kernels->name : nullptr;
}

int goldcrest_set_search(goldcrest_engine* engine, const goldcrest_search* search) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  const bool busy = engine->state == EngineState::kEncoding || engine->state == EngineState::kDecoding;
  GOLDCREST_REQUIRE(!busy, GOLDCREST_ERROR_STATE, "set_search: a search is under way", -1);
  if (search == nullptr) {
    goldcrest_info info;
    view_info(engine->runtime.file, engine->model_bytes, &info);
    engine->options = default_search(info, engine->search.limits);
    return GOLDCREST_OK;
  }
  goldcrest_search resolved;
  GOLDCREST_TRY(resolve_search(engine->search.limits, *search, &resolved, detail));
  engine->options = resolved;
  return GOLDCREST_OK;
}

int goldcrest_begin(goldcrest_engine* engine, const int32_t* source, size_t n) {
  return store_ids(engine, source, n, true);
}

int goldcrest_add(goldcrest_engine* engine, const int32_t* source, size_t n) {
  return store_ids(engine, source, n, false);
}

int goldcrest_begin_text(goldcrest_engine* engine, const char* text, size_t text_bytes) {
  return store_text(engine, text, text_bytes, true);
}

int goldcrest_add_text(goldcrest_engine* engine, const char* text, size_t text_bytes) {
  return store_text(engine, text, text_bytes, false);
}

int goldcrest_get_source(const goldcrest_engine* engine, uint32_t sentence, const int32_t** source) {
  if (!usable(engine) || source == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  GOLDCREST_REQUIRE(sentence < engine->search.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  const Source& extent = engine->runtime.buffer<Source>(engine->refs.sources)[sentence];
  *source = engine->runtime.buffer<int32_t>(engine->refs.source_ids) + extent.first_row;
  return static_cast<int>(extent.length);
}

int goldcrest_step(goldcrest_engine* engine, int32_t* token) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  return engine_step(*engine, token);
}

int goldcrest_run(goldcrest_engine* engine) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  int status = GOLDCREST_WORKING;
  while (status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN) status = engine_step(*engine, nullptr);
  return status;
}

void goldcrest_reset(goldcrest_engine* engine) {
  if (usable(engine)) engine_clear(*engine);
}

int goldcrest_get_result(const goldcrest_engine* engine, uint32_t sentence, uint32_t rank, goldcrest_result* result) {
  if (!usable(engine) || result == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail* detail = engine->detail;
  const bool done = engine->state == EngineState::kDone || engine->state == EngineState::kLastTokenGiven;
  GOLDCREST_REQUIRE(done, GOLDCREST_ERROR_STATE, "get_result: not done", -1);
  GOLDCREST_REQUIRE(sentence < engine->search.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  const SentenceView view = sentence_view(engine->runtime, engine->search, sentence);
  GOLDCREST_REQUIRE(rank < view.state->n_finished && rank < engine->search.limits.n_best, GOLDCREST_ERROR_ARGUMENT,
                    "rank: no such hypothesis", static_cast<int32_t>(view.state->n_finished));
  const Hypothesis& hypothesis = view.hypotheses[rank];
  result->tokens = view.hypothesis_tokens + size_t{hypothesis.storage} * engine->search.limits.max_target_tokens;
  result->n_tokens = hypothesis.n_tokens;
  result->log_prob = hypothesis.log_prob;
  result->score = hypothesis.score;
  result->logits_hash = hashes_logits(engine->search.options) ? view.state->logits_hash : 0;
  return GOLDCREST_OK;
}

int64_t goldcrest_detokenize(const goldcrest_engine* engine, goldcrest_text_state* state, const int32_t* tokens,
                             size_t n, char* out, size_t out_bytes) {
  if (!usable(engine) || state == nullptr || (tokens == nullptr && n > 0) || (out == nullptr && out_bytes > 0)) {
    return GOLDCREST_ERROR_ARGUMENT;
  }
  DetokenizerView view;
  if (!view_detokenizer(engine->runtime.file, &view)) {
    return fail(engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "detokenize: the model has no detokenizer");
  }
  return detokenize(view, state, tokens, n, out, out_bytes);
}

int64_t goldcrest_translate(goldcrest_engine* engine, const char* text, size_t text_bytes, char* out,
                            size_t out_bytes) {
  if (!usable(engine) || out == nullptr || out_bytes == 0) return GOLDCREST_ERROR_ARGUMENT;
  out[0] = '\0';
  GOLDCREST_TRY(goldcrest_begin_text(engine, text, text_bytes));
  GOLDCREST_TRY(goldcrest_run(engine));
  goldcrest_result result;
  GOLDCREST_TRY(goldcrest_get_result(engine, 0, 0, &result));
  // Token by token, so that what fits is written when not all does.
  goldcrest_text_state state = {};
  size_t written = 0;
  for (uint32_t i = 0; i <= result.n_tokens; ++i) {
    const bool flush = i == result.n_tokens;
    const int64_t bytes =
        goldcrest_detokenize(engine, &state, result.tokens + i, flush ? 0 : 1, out + written, out_bytes - 1 - written);
    if (bytes < 0) {
      out[written] = '\0';
      return fail(engine->detail, static_cast<goldcrest_status>(bytes), "out: too small for the text");
    }
    written += static_cast<size_t>(bytes);
  }
  out[written] = '\0';
  return static_cast<int64_t>(written);
}

}  // extern "C"
