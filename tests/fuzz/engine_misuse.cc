// SPDX-License-Identifier: Apache-2.0
#include <cfenv>
#include "api/engine_plan.h"
#include "api/observe.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/crc32c.h"
#include "fuzz/damaged_flash.h"
#include "fuzz/engine_calls.h"
#include "goldcrest/check.h"
#include "goldcrest/decoding.h"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "model/validate.h"
#include "model_generated.h"

namespace goldcrest::test {
namespace {
void refused(int64_t status) { require(status == GOLDCREST_ERROR_ARGUMENT, "bad arguments are refused as such"); }

// Sets GOLDCREST_KERNELS during its lifetime.
class NamedKernels {
 public:
  explicit NamedKernels(const char* name) {
    const char* const before = std::getenv(kVariable);
    is_set_ = before != nullptr;
    if (is_set_) before_ = before;
    ::setenv(kVariable, name, 1);
  }
  ~NamedKernels() { is_set_ ? ::setenv(kVariable, before_.c_str(), 1) : ::unsetenv(kVariable); }
  NamedKernels(const NamedKernels&) = delete;
  NamedKernels& operator=(const NamedKernels&) = delete;
 private:
  static constexpr const char* kVariable = "GOLDCREST_KERNELS";
  bool is_set_ = false;
  std::string before_;
};

void misuse_no_engine(goldcrest_engine* none) {
  const int32_t id = 0, *source = nullptr;
  const goldcrest_alignment alignment = {};
  goldcrest_text_state state = {};
  goldcrest_result result;
  char text[4] = "a";
  float weight = 0;
  refused(goldcrest_begin(none, &id, 1));
  refused(goldcrest_add(none, &id, 1));
  refused(goldcrest_begin_text(none, text, 1));
  refused(goldcrest_add_text(none, text, 1));
  refused(goldcrest_step(none, nullptr));
  refused(goldcrest_run(none));
  refused(goldcrest_search_again(none));
  refused(goldcrest_self_test(none, nullptr));
  refused(goldcrest_set_search(none, nullptr));
  refused(goldcrest_set_languages(none, nullptr, nullptr));
  refused(goldcrest_score(none, 0, &id, 1));
  refused(goldcrest_get_result(none, 0, 0, &result));
  refused(goldcrest_get_source(none, 0, &source));
  refused(goldcrest_get_alignment(none, &alignment, &weight, 1));
  refused(goldcrest_detokenize(none, &state, &id, 1, text, sizeof text));
  refused(goldcrest_translate(none, text, 1, text, sizeof text));
  goldcrest_reset(none);
  require(*goldcrest_kernels_name(none) == '\0', "without an engine there is no name of kernels");
}

// Checks a file without the public functions, as in a build that has no kernels for float32 files.
void misuse_validate(const goldcrest_config& good) {
  const VerifyFunctions functions = {crc32c, nullptr, false, true};
  const int status = validate_model(good.model, good.model_bytes, functions, nullptr);
  const bool is_float32 = has_feature(format::GetModel(good.model)->features(), kFeatureFloat32);
  require(status == (is_float32 ? GOLDCREST_ERROR_UNSUPPORTED : GOLDCREST_OK), "validate: without float32 kernels");
  ShortlistView shortlist;
  const bool has_shortlist = kHasShortlist && format::GetModel(good.model)->limits()->max_candidates() > 0;
  require(view_shortlist(good.model, &shortlist) == has_shortlist, "a shortlist goes with its limit");
}

// States of a check that no call leaves.
void misuse_check(const goldcrest_config& good) {
  const goldcrest_check states[] = {{good.model_bytes, {}, {}, 0, 0}, {0, {}, {}, 0, 9}, {0, {UINT64_MAX}, {}, 0, 1},
      {0, {64, 0}, {}, 0, 1}, {0, {64, 64, 64, 64, 64}, {}, 0, 1}};
  for (goldcrest_check state : states)
    refused(goldcrest_check_weights(good.model, good.model_bytes, 0, &state, nullptr));
  refused(goldcrest_check_weights(good.model, good.model_bytes, 0, nullptr, nullptr));
}

void misuse_model(const goldcrest_config& good) {
  const char* const model = static_cast<const char*>(good.model);
  goldcrest_info info;
  goldcrest_memory memory;
  goldcrest_check check = {};
  refused(goldcrest_model_info(model, good.model_bytes, nullptr, nullptr));
  refused(goldcrest_model_info(nullptr, good.model_bytes, &info, nullptr));
  refused(goldcrest_plan_memory(model, good.model_bytes, nullptr, nullptr, nullptr, nullptr, nullptr));
  refused(goldcrest_plan_memory(model + 1, good.model_bytes, nullptr, &memory, nullptr, nullptr, nullptr));
  goldcrest_limits limits = {.batch = UINT32_MAX};
  refused(goldcrest_plan_memory(model, good.model_bytes, &limits, &memory, nullptr, nullptr, nullptr));
  const int planned = goldcrest_plan_memory(model, good.model_bytes, nullptr, &memory, nullptr, nullptr, nullptr);
  require(planned == GOLDCREST_OK || planned == GOLDCREST_ERROR_ARGUMENT, "plan_memory: the file's own limits");
  refused(goldcrest_target_languages(nullptr, good.model_bytes, nullptr, nullptr, nullptr));
  const int languages = goldcrest_target_languages(model, good.model_bytes, nullptr, nullptr, nullptr);
  require(languages >= 0 || languages == GOLDCREST_ERROR_MODEL_CORRUPT, "languages are counted without a callback");
  misuse_validate(good);
  misuse_check(good);
  lie_in_trailers({static_cast<const uint8_t*>(good.model), good.model_bytes});
  const NamedKernels no_kernels("no such kernels");
  refused(goldcrest_model_info(model, good.model_bytes, &info, nullptr));
  refused(goldcrest_check_weights(model, good.model_bytes, 0, &check, nullptr));
}

// Buffers that no arena can have.
void misuse_plan(const goldcrest_limits& limits) {
  const BufferSize sizes[] = {{0, UINT64_MAX, {GOLDCREST_FACTOR_LONGEST, GOLDCREST_FACTOR_LONGEST, 0, 0}},
      {UINT64_MAX, 1, {}}, {uint64_t{1} << 41, 0, {}}};
  for (const BufferSize& size : sizes) {
    Plan plan(limits);
    (void)plan.add("too large", Phase::kAlways, Region::kMain, size);
    require(plan.overflowed(), "plan: a buffer of too many bytes");
  }
  Plan plan(limits);
  (void)plan.add("large", Phase::kAlways, Region::kMain, {uint64_t{1} << 38, 0, {}});
  require(plan.overflowed(), "plan: a buffer too far away");
}

// At the greatest limits, goldcrest_plan_memory and goldcrest_init must agree.
void misuse_limits(const goldcrest_config& good) {
  goldcrest_info info;
  goldcrest_memory memory;
  const int known = goldcrest_model_info(good.model, good.model_bytes, &info, nullptr);
  require(known == GOLDCREST_OK, "model_info: a file that an engine runs");
  goldcrest_config config = good;
  config.limits = {info.max_source_positions, info.has_tokenizer != 0 ? kMaxSourceBytes : 0, info.max_target_positions,
      kMaxBeams, kMaxBatch, kMaxBeams, kMaxEncoderRows, kMaxThreads,
      GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS, GOLDCREST_ALL_LAYERS, 0,
      kHasPrompt ? info.max_target_positions - 1 : 0, kMaxSampled, 1};
  config.arena_bytes = config.scratch_bytes = 0;
  config.detail = nullptr;
  const int planned =
      goldcrest_plan_memory(good.model, good.model_bytes, &config.limits, &memory, nullptr, nullptr, nullptr);
  require(planned == GOLDCREST_OK || planned == GOLDCREST_ERROR_ARGUMENT, "plan_memory: the greatest limits");
  goldcrest_engine* engine = nullptr;
  const int status = goldcrest_init(&engine, &config);
  require(status == (planned < 0 ? planned : GOLDCREST_ERROR_ARENA_TOO_SMALL), "init: the greatest limits");
}

// A backend that leaves every layer to the native kernels, or refuses.
int prepare(const goldcrest_backend&, const PrepareArgs& args, const Kernels**, goldcrest_detail*) {
  return args.use == BackendUse::kWhereFaster ? GOLDCREST_OK : GOLDCREST_ERROR_UNSUPPORTED;
}

// All of these but the last are refused only after the engine's memory was written.
void misuse_backend(const goldcrest_config& good) {
  const goldcrest_backend backend = {prepare};
  goldcrest_engine* engine = nullptr;
  goldcrest_config config = good;
  config.backend = &backend;
  config.kernels = "xnnpack";
  require(goldcrest_init(&engine, &config) == GOLDCREST_ERROR_UNSUPPORTED, "init: a backend's refusal");
  config.kernels = "fastest";
  require(goldcrest_init(&engine, &config) == GOLDCREST_OK, "init: a backend that leaves all layers");
  config.kernels = nullptr;
  std::fesetround(FE_UPWARD);
  const int status = goldcrest_init(&engine, &config);
  std::fesetround(FE_TONEAREST);
  require(status == GOLDCREST_ERROR_BUILD, "init: kernels that round differently");
}
}  // namespace

void misuse_engine(goldcrest_engine* engine, bool hears) {
  const int32_t id = 0;
  const goldcrest_alignment alignment = {};
  goldcrest_text_state state = {};
  char text[4] = "a";
  float weight = 0;
  const auto refused_ids = [hears](int64_t status) {
    require(status == (hears ? GOLDCREST_ERROR_UNSUPPORTED : GOLDCREST_ERROR_ARGUMENT), "bad ids are refused");
  };
  refused_ids(goldcrest_begin(engine, nullptr, 1));
  refused_ids(goldcrest_add(engine, &id, 0));
  refused(goldcrest_begin_text(engine, nullptr, 1));
  refused(goldcrest_add_text(engine, nullptr, 1));
  refused(goldcrest_get_result(engine, 0, 0, nullptr));
  refused(goldcrest_get_source(engine, 0, nullptr));
  refused(goldcrest_detokenize(engine, nullptr, &id, 1, text, sizeof text));
  refused(goldcrest_detokenize(engine, &state, nullptr, 1, text, sizeof text));
  refused(goldcrest_detokenize(engine, &state, &id, 1, nullptr, 1));
  refused(goldcrest_translate(engine, text, 1, nullptr, 1));
  refused(goldcrest_translate(engine, text, 1, text, 0));
  refused(goldcrest_get_alignment(engine, nullptr, &weight, 1));
  refused(goldcrest_get_alignment(engine, &alignment, nullptr, 1));
  const int scored = goldcrest_score(engine, 0, nullptr, 1);
  const int empty = goldcrest_score(engine, 0, &id, 0);
  require((scored == GOLDCREST_ERROR_ARGUMENT || scored == GOLDCREST_ERROR_UNSUPPORTED) && empty == scored,
      "score: no target");
  const int64_t flushed = goldcrest_detokenize(engine, &state, nullptr, 0, nullptr, 0);
  require(flushed == 0 || flushed == GOLDCREST_ERROR_UNSUPPORTED, "detokenize: nothing, into nothing");
  const Kernels* const kernels = exchange_kernels(engine, nullptr);
  require(exchange_kernels(engine, kernels) == nullptr, "kernels are exchanged");
  require(*goldcrest_kernels_name(engine) != '\0', "an engine's kernels have a name");
  require(goldcrest_kernels_at(0) != nullptr, "there are kernels");
  require(goldcrest_kernels_at(UINT32_MAX) == nullptr, "there are fewer kernel tables");
  for (int status = -16; status < 16; ++status)
    require(*goldcrest_status_string(status) != '\0', "every status has words");
}

void misuse_init(const goldcrest_config& good) {
  alignas(GOLDCREST_ALIGN) static char never_started[4096] = {};
  misuse_no_engine(nullptr);
  misuse_no_engine(reinterpret_cast<goldcrest_engine*>(never_started));
  goldcrest_engine* engine = nullptr;
  refused(goldcrest_init(nullptr, &good));
  refused(goldcrest_init(&engine, nullptr));
  const auto with = [&](int error, auto change) {
    goldcrest_config config = good;
    config.detail = nullptr;
    change(config);
    require(goldcrest_init(&engine, &config) == error && engine == nullptr, "init: its error, and no engine");
  };
  constexpr int kArgument = GOLDCREST_ERROR_ARGUMENT;
  with(kArgument, [](goldcrest_config& config) { config.kernels = "no such kernels"; });
  with(kArgument, [](goldcrest_config& config) { config.kernels = "xnnpack"; });
  with(kArgument, [](goldcrest_config& config) { config.verify = 2; });
  with(kArgument, [](goldcrest_config& config) { config.step_size = 2; });
  with(kArgument, [](goldcrest_config& config) { config.arena = nullptr; });
  with(kArgument, [](goldcrest_config& config) { config.arena = static_cast<char*>(config.arena) + 1; });
  with(kArgument, [](goldcrest_config& config) { config.scratch = static_cast<char*>(config.arena) + 1; });
  with(kArgument, [](goldcrest_config& config) { config.limits.threads = UINT32_MAX; });
  if (good.scratch_bytes > 0)
    with(GOLDCREST_ERROR_ARENA_TOO_SMALL, [](goldcrest_config& config) { --config.scratch_bytes; });
  misuse_model(good);
  misuse_plan(good.limits);
  misuse_limits(good);
  if (good.model_bytes < 1u << 16) damage_flash(good);  // a large file takes too long
  misuse_backend(good);
}

void ChangingLexicon::change(Script& script, goldcrest_engine* engine) {
  // Good arrays: two edges at each node, and any tokens; sometimes with one word of any value.
  for (uint32_t i = 0; i <= kNodes; ++i) first_edge_[i] = 2 * i;
  for (uint32_t i = 0; i < kEdges; i += 2) {
    const uint32_t token = script.below(6), node = i / 2;
    edges_[i] = node + 1 < kNodes ? goldcrest_lexicon_edge{token, node + 1}
                                  : goldcrest_lexicon_edge{GOLDCREST_LEXICON_END, GOLDCREST_LEXICON_STOP};
    edges_[i + 1] = {GOLDCREST_LEXICON_END, script.one_in(2) ? 0 : GOLDCREST_LEXICON_STOP};
  }
  first_edge_[kNodes] = kEdges - 1;
  edges_[kEdges - 2] = edges_[kEdges - 1];
  if (script.one_in(4)) first_edge_[script.below(kNodes + 1)] = script.word();
  if (script.one_in(4)) edges_[script.below(kEdges)].token = script.word();
  if (script.one_in(4)) edges_[script.below(kEdges)].child = script.word();
  const goldcrest_lexicon lexicon = {first_edge_.get(), edges_.get(),
      script.one_in(16) ? script.below(kNodes + 1) : kNodes, script.one_in(16) ? script.below(kEdges + 1) : kEdges - 1};
  if (script.one_in(2)) return;
  const int status = goldcrest_set_lexicon(engine, script.one_in(8) ? nullptr : &lexicon);
  require(status == GOLDCREST_OK || status == GOLDCREST_ERROR_ARGUMENT || status == GOLDCREST_ERROR_STATE,
      "set_lexicon: errors");
}

void set_decoding(goldcrest_engine* engine, Script& script, const goldcrest_info& info) {
  const auto require_allowed = [](int status, const char* function) {
    require(status == GOLDCREST_OK || status == GOLDCREST_ERROR_ARGUMENT || status == GOLDCREST_ERROR_STATE ||
                status == GOLDCREST_ERROR_UNSUPPORTED,
        function);
  };
  const auto number = [&] { return static_cast<float>(script.below(9)) / 4 - 0.25f; };
  switch (script.below(4)) {
    case 0: {
      const goldcrest_sampling sampling = {
          script.word(), number(), script.below(7), number(), number(), script.below(5), script.word()};
      return require_allowed(goldcrest_set_sampling(engine, script.one_in(4) ? nullptr : &sampling), "set_sampling");
    }
    case 1: return require_allowed(goldcrest_set_stream(engine, script.below(4), script.word()), "set_stream");
    case 2: return require_allowed(goldcrest_set_alternatives(engine, script.below(5), number()), "set_alternatives");
    default: {
      // They stay for the engine's life, and change under it.
      static int32_t ids[12];
      static float biases[4];
      for (int32_t& id : ids) id = static_cast<int32_t>(script.below(info.target_vocab_size + 1));
      for (float& bias : biases) bias = script.one_in(2) ? number() : -HUGE_VALF;
      uint32_t n = 0, n_ids = 0;
      if (script.below(4) != 0) {
        while (n < 4 && script.below(4) != 0) {
          ids[n_ids] = static_cast<int32_t>(1 + script.below(2));
          n_ids += 1 + static_cast<uint32_t>(ids[n_ids]);
          ++n;
        }
      }
      const goldcrest_sequences sequences = {ids, script.one_in(2) ? biases : nullptr, n_ids, n, script.below(4)};
      const bool none = script.one_in(8);
      return require_allowed(goldcrest_set_sequences(engine, none ? nullptr : &sequences), "set_sequences");
    }
  }
}
}  // namespace goldcrest::test
