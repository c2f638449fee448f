// SPDX-License-Identifier: Apache-2.0
// On the board: no step of a search takes more ticks than worst_step.h says, for any sources, activations, logits and
// scores. Some steps take nearly as many.
#include "worst_step.h"
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include "api/engine.h"
#include "instruction_count.h"
#include "model_stepped.h"
#include "support/rng.h"

namespace goldcrest::test {
namespace {
constexpr uint32_t kMostOutputs = 8192, kMostWidth = 512;
constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_STEPPED_ARENA_BYTES];
const std::array<int32_t, MODEL_STEPPED_MAX_SOURCE_TOKENS> kLongest = {};

// Numbers that replace the model's own in the kernels below. They are made before a step, so the step does not pay for
// them.
std::array<float, kMostWidth> positions;
std::array<float, kMostOutputs> biases;
bool own_positions, own_logits, own_scales;
const std::array<float, kOutputBlock> kNoScales = {};
float attention_factor;

const Kernels* native;
const float* model_biases;

void embed(const EmbedArgs<int8_t>& args) {
  EmbedArgs<int8_t> changed = args;
  if (!own_positions) changed.position = positions.data();
  native->int8.embed(changed);
}

void attention(const AttentionArgs<int8_t>& args) {
  AttentionArgs<int8_t> changed = args;
  changed.scale *= attention_factor;
  native->int8.attention(changed);
}

void output_block(const OutputBlockArgs<int8_t>& args) {
  OutputBlockArgs<int8_t> changed = args;
  if (!own_logits) changed.linear.bias = biases.data() + (args.linear.bias - model_biases);
  if (!own_scales) changed.linear.w_scale = kNoScales.data();
  native->int8.output_block(changed);
}

// Any size, and also infinities and NaN.
float any_number(Rng& rng) {
  constexpr float kSpecial[] = {0.0f, -0.0f, kInfinity, -kInfinity, kNan, 1e-42f, -3e38f, 3e38f};
  const uint32_t kind = rng.below(16);
  return kind < 8 ? kSpecial[kind] : rng.uniform() * (kind < 12 ? 8.0f : 1e20f);
}

// Orders of numbers that make a list of the largest do much work, little work, or varied work; then any numbers.
enum Order { kAscending, kEqual, kFarApart, kDescending, kFarApartDescending, kAny, kNear, kSpread, kOrders };
void fill(Rng& rng, uint32_t order, float* x, uint32_t n) {
  constexpr float kSteps[] = {1.0f / 2048, 0.0f, 64.0f, -1.0f / 2048, -64.0f};
  for (uint32_t i = 0; i < n; ++i)
    if (order < kAny) x[i] = static_cast<float>(i) * kSteps[order];
    else x[i] = order == kAny ? any_number(rng) : rng.uniform() * (order == kNear ? 8.0f : 1000.0f);
}

// The disturbance of a search: the most work at every step, something else at each step, or none.
enum class Kind { kWorst, kHostile, kNatural };

void set_scores(Rng& rng, Kind kind, const goldcrest_engine& engine) {
  const SentenceView view = sentence_view(engine.buffers, 0);
  const uint32_t scores =
      kind == Kind::kWorst ? 1 + (engine.step.position + 2 == engine.options.max_target_tokens) : rng.below(4);
  for (uint32_t b = 0; b < view.state->n_live && scores > 0; ++b)
    view.scores[b] = scores == 1 ? 0.0f : scores == 2 ? static_cast<float>(b) * 1e-5f : any_number(rng);
}

void disturb(Rng& rng, Kind kind, goldcrest_engine* engine) {
  const ModelView& model = engine->runtime.model;
  const bool worst = kind == Kind::kWorst;
  own_positions = worst || rng.below(3) == 0;
  if (!own_positions) {
    fill(rng, rng.below(kOrders), positions.data(),
        std::max(model.encoder.d_model_padded, model.decoder.d_model_padded));
  }
  constexpr float kFactors[] = {0.0f, 1.0f, 1e10f, kNan};
  attention_factor = worst ? 0.0f : kFactors[rng.below(4)];
  if (worst || rng.below(2) == 0)
    engine->runtime.generation.end_id = worst ? model.vocab_size - 1 : rng.below(model.vocab_size);
  if (engine->state != EngineState::kDecoding) return;
  own_logits = !worst && rng.below(3) == 0;
  own_scales = own_logits || (!worst && rng.below(2) == 0);
  if (!own_logits) fill(rng, worst ? uint32_t{kAscending} : rng.below(kOrders), biases.data(), model.projection.n);
  set_scores(rng, kind, *engine);
}

// Returns the most ticks of a step of one search; negative: a status.
int64_t run(Rng& rng, goldcrest_engine* engine, const goldcrest_search& wanted, Kind kind) {
  goldcrest_search search = wanted;
  constexpr uint32_t kLongestTarget = MODEL_STEPPED_MAX_TARGET_TOKENS - 1,
                     kMostSource = MODEL_STEPPED_MAX_SOURCE_TOKENS;
  const bool shorter = kind != Kind::kWorst && rng.below(2) == 0;
  search.min_target_tokens = shorter ? rng.between(1, kLongestTarget) : kLongestTarget;
  const uint32_t n_source = shorter ? rng.between(1, kMostSource) : kMostSource;
  const auto source = rng.ids(n_source, engine->runtime.model.encoder.embedding.vocab_size);
  GOLDCREST_TRY(goldcrest_set_search(engine, &search));
  GOLDCREST_TRY(goldcrest_begin(engine, source.data(), n_source));
  own_positions = own_logits = own_scales = true;
  attention_factor = 1.0f;
  int64_t most = 0;
  for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
    if (kind != Kind::kNatural) disturb(rng, kind, engine);
    const uint64_t start = board_ticks();
    status = goldcrest_step(engine, nullptr);
    most = std::max(most, static_cast<int64_t>(board_ticks() - start));
    if (status < 0) return status;
  }
  return most;
}

// Returns the most ticks of a step in all searches of one kind; negative: a status.
int64_t run_searches(goldcrest_engine* engine, uint32_t step_size, const goldcrest_search& search) {
  native = engine->runtime.kernels;
  model_biases = engine->runtime.tensor<float>(engine->runtime.model.projection.bias);
  Kernels changed = *native;
  changed.int8.embed = embed;
  changed.int8.attention = attention;
  changed.int8.output_block = output_block;
  engine->runtime.kernels = &changed;
  engine->step_size = step_size;
  const uint32_t end_id = engine->runtime.generation.end_id;
  int64_t most = 0;
  for (uint32_t i = 0; i < GOLDCREST_SEARCHES && most >= 0; ++i) {
    Rng rng(i);
    const Kind kind = i == 0 ? Kind::kWorst : i % 4 == 3 ? Kind::kNatural : Kind::kHostile;
    const int64_t ticks = run(rng, engine, search, kind);
    most = ticks < 0 ? ticks : std::max(most, ticks);
    engine->runtime.generation.end_id = end_id;
  }
  engine->runtime.kernels = native;
  return most;
}

// Returns whether the bound holds and is near.
bool holds(uint64_t bound, int64_t counted) {
  std::printf("  at most %u ticks, counted %u, %u %%\n", static_cast<unsigned>(bound), static_cast<unsigned>(counted),
      static_cast<unsigned>(100 * counted / static_cast<int64_t>(bound)));
  const auto ticks = static_cast<uint64_t>(counted);
  return counted >= 0 && ticks <= bound && 10 * ticks >= 7 * bound;
}

bool holds_all(goldcrest_engine* engine, const goldcrest_search& search) {
  const worst_search worst = {search, kLongest.data(), kLongest.size()};
  worst_step most;
  if (measure_worst_step(engine, &worst, &most) < 0 || most.layer_ticks == 0) return false;
  std::printf("beam %u, flags %u, steps of positions and of layers:\n", static_cast<unsigned>(search.beam_size),
      static_cast<unsigned>(search.flags));
  const bool ok = holds(most.position_ticks, run_searches(engine, GOLDCREST_STEP_POSITION, search));
  return holds(most.layer_ticks, run_searches(engine, GOLDCREST_STEP_LAYER, search)) && ok;
}
}  // namespace

bool passes() {
  if (!clock_counts_instructions()) return false;
  goldcrest_config config = {.model = model_stepped,
      .model_bytes = MODEL_STEPPED_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_STEPPED_LIMITS};
  goldcrest_engine* engine = nullptr;
  if (goldcrest_init(&engine, &config) < 0) return false;
  goldcrest_search search = {.beam_size = MODEL_STEPPED_BEAM_SIZE, .length_penalty = 0.5f};
  bool ok = holds_all(engine, search);
  search.beam_size = 1;
  for (const unsigned flags : {0u, GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS}) {
    search.flags = flags;
    ok &= holds_all(engine, search);
  }
  return ok;
}
}  // namespace goldcrest::test
