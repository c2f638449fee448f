// SPDX-License-Identifier: Apache-2.0
// Sets fields one by one, in the schema's order.
#include "file/metadata.h"
#include <algorithm>
#include "base/bounds.h"
#include "base/build_options.h"
#include "file/format.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kBytesPerSourceToken = 8;  // pieces of real text are shorter
constexpr uint32_t kDefaultEncoderRows = 32;
constexpr uint32_t kDefaultCandidates = 2048;  // long sentences of real shortlists have half as many

// A limit has the name of its option and the name of its setting.
struct Name {
  const char *option, *setting;
};
constexpr Name kMaxSource = {"--max-source", "max_source_tokens"}, kMaxTarget = {"--max-target", "max_target_tokens"};
constexpr Name kSourceBytes = {"--max-source-bytes", "max_source_bytes"}, kBeamSize = {"--beam-size", "beam_size"};
constexpr Name kBatch = {"--batch", "batch"}, kNBest = {"--n-best", "n_best"};
constexpr Name kEncoderRows = {"--encoder-rows", "encoder_rows"}, kCandidates = {"--max-candidates", "max_candidates"};
constexpr Name kPrefix = {"--max-prefix", "max_prefix_tokens"};

// Returns `limit`, or the setting `fallback` if it is 0. Throws Error unless it is within 1 .. largest.
uint32_t resolve(const Name& name, uint32_t limit, uint32_t fallback, uint32_t largest, const char* reason) {
  const uint32_t value = limit == 0 ? fallback : limit;
  if (value < 1 || value > largest)
    throw Error("{} is {}; expected 1 to {}, {}", limit == 0 ? name.setting : name.option, value, largest, reason);
  return value;
}

uint32_t default_source_bytes(uint32_t max_source_tokens) {
  return static_cast<uint32_t>(std::min(uint64_t{kBytesPerSourceToken} * max_source_tokens, uint64_t{kMaxSourceBytes}));
}

int32_t id_or_none(const std::optional<uint32_t>& id) { return id ? static_cast<int32_t>(*id) : -1; }

void set_rules(const RulesSpec& rules, format::GenerationT& out) {
#define GOLDCREST_RULE(kind, field, ...) out.field = decltype(out.field)(rules.field - GOLDCREST_FIRST_##kind);
#include "goldcrest/search_rules.h"
  out.more_end_ids = rules.more_end_ids;
  for (const auto& [id, bias] : rules.biases) {
    out.biased_ids.push_back(id);
    out.biases.push_back(bias);
  }
}

// Returns null for a model whose languages are fixed.
std::unique_ptr<format::LanguagesT> make_languages(const ModelSpec& spec) {
  LanguagesSpec languages = spec.languages;
  if (!languages.is_table()) return nullptr;
  std::ranges::sort(languages.entries, {}, &Language::code);
  auto out = std::make_unique<format::LanguagesT>();
  out->source_place = static_cast<uint8_t>(languages.source_place);
  out->target_place = static_cast<uint8_t>(languages.target_place);
  const bool has_sources = out->source_place != 0, has_targets = out->target_place != 0;
  for (const Language& entry : languages.entries) {
    const auto index = static_cast<int32_t>(out->code.size());
    if (has_sources && entry.code == spec.source_language) out->default_source = index;
    if (has_targets && entry.code == spec.target_language) out->default_target = index;
    out->code.push_back(entry.code);
    if (has_sources) out->source.push_back(entry.source.value_or(UINT32_MAX));
    if (has_targets) out->target.push_back(entry.target.value_or(UINT32_MAX));
  }
  return out;
}
}  // namespace

void set_search(const ModelSpec& spec, const goldcrest_limits& limits, format::ModelT& metadata) {
  metadata.limits = make_limits(limits);
  metadata.generation = make_generation(spec.generation, limits);
  metadata.languages = make_languages(spec);
  RulesSpec rules = spec.generation.rules;
  if (spec.encoder.frontend) rules.max_length_factor = 0;  // not a rule for clips
  if (rules != RulesSpec{}) metadata.features |= kFeatureRules;
  if (spec.generation.prompt != PromptSpec{} || limits.max_prefix_tokens != 0) metadata.features |= kFeaturePrompt;
  if (spec.generation.first_timestamp != 0) metadata.features |= kFeatureTimestamps;
  if (metadata.languages) metadata.features |= kFeatureLanguages;
}

goldcrest_limits resolve_limits(const ModelSpec& spec, const goldcrest_limits& limits) {
  const uint32_t source_positions = spec.encoder.positions.rows, target_positions = spec.decoder.positions.rows;
  // A prompt takes target positions too.
  const uint32_t prompt = static_cast<uint32_t>(spec.generation.prompt.size());
  const uint32_t checkpoint_target =
      spec.generation.max_target_tokens == 0 ? 0 : spec.generation.max_target_tokens + prompt;
  goldcrest_limits resolved = limits;
  resolved.max_source_tokens =
      resolve(kMaxSource, limits.max_source_tokens, source_positions, source_positions, "the encoder's positions");
  resolved.max_target_tokens = resolve(kMaxTarget, limits.max_target_tokens,
      checkpoint_target == 0 ? target_positions : std::min(checkpoint_target, target_positions), target_positions,
      "the decoder's positions");
  if (spec.source_tokenizer) {
    resolved.max_source_bytes = resolve(kSourceBytes, limits.max_source_bytes,
        default_source_bytes(resolved.max_source_tokens), kMaxSourceBytes, "the format's bound");
  } else if (limits.max_source_bytes != 0) {
    throw Error("--max-source-bytes is {}, but the checkpoint has no tokenizer; leave it out", limits.max_source_bytes);
  }
  resolved.beam_size = resolve(kBeamSize, limits.beam_size, spec.generation.beam_size, kMaxBeams, "the engine's bound");
  resolved.batch = resolve(kBatch, limits.batch, 1, kMaxBatch, "the engine's bound");
  resolved.n_best = resolve(kNBest, limits.n_best, 1, resolved.beam_size, "the beam size");
  resolved.encoder_rows = resolve(kEncoderRows, limits.encoder_rows,
      std::min(kDefaultEncoderRows, resolved.max_source_tokens), kMaxEncoderRows, "the engine's bound");
  const uint32_t vocab_size = spec.projection.weight->rows;
  resolved.lexicon = spec.lexicon ? 1 : 0;
  if (spec.shortlist) {
    resolved.max_candidates = resolve(kCandidates, limits.max_candidates, std::min(kDefaultCandidates, vocab_size),
        vocab_size, "the target's vocabulary");
  } else if (spec.lexicon) {
    const uint64_t most =
        most_allowed(*spec.lexicon, resolved.beam_size, 1 + spec.generation.rules.more_end_ids.size());
    const uint64_t enough = std::min<uint64_t>(most, std::min(kDefaultCandidates, vocab_size));
    resolved.max_candidates = resolve(
        kCandidates, limits.max_candidates, static_cast<uint32_t>(enough), vocab_size, "the target's vocabulary");
  } else if (limits.max_candidates != 0) {
    throw Error("--max-candidates is {}, but the model has neither a shortlist nor a lexicon; leave it out",
        limits.max_candidates);
  }
  const uint32_t prompt_tokens = static_cast<uint32_t>(spec.generation.prompt.size());
  if (resolved.max_target_tokens <= prompt_tokens) {
    throw Error("--max-target is {}; expected more than the {} ids of the model's prompt", resolved.max_target_tokens,
        prompt_tokens);
  }
  const uint32_t most_prefix = resolved.max_target_tokens - 1;
  resolved.max_prefix_tokens = std::min(spec.generation.max_prefix_tokens, most_prefix);
  if (limits.max_prefix_tokens != 0) {
    resolved.max_prefix_tokens =
        resolve(kPrefix, limits.max_prefix_tokens, 0, most_prefix, "one less than the target tokens");
  }
  return resolved;
}

void check_bounds(const goldcrest_limits& limits) {
  const uint32_t beams = resolve(kBeamSize, limits.beam_size, kMaxBeams, kMaxBeams, "the engine's bound");
  resolve(kBatch, limits.batch, 1, kMaxBatch, "the engine's bound");
  resolve(kNBest, limits.n_best, 1, beams, "the beam size");
  resolve(kEncoderRows, limits.encoder_rows, 1, kMaxEncoderRows, "the engine's bound");
}

goldcrest_limits resolve_limits(const goldcrest_info& file, const goldcrest_limits& limits) {
  goldcrest_limits resolved = limits;
  const bool fewer = limits.max_source_tokens != 0;
  if (!fewer) resolved.max_source_tokens = file.limits.max_source_tokens;
  if (limits.max_source_bytes == 0 && file.has_tokenizer)
    resolved.max_source_bytes = fewer ? default_source_bytes(limits.max_source_tokens) : file.limits.max_source_bytes;
  if (limits.encoder_rows == 0) resolved.encoder_rows = std::min(file.limits.encoder_rows, resolved.max_source_tokens);
  return resolved;
}

std::unique_ptr<format::LimitsT> make_limits(const goldcrest_limits& limits) {
  auto out = std::make_unique<format::LimitsT>();
  out->max_source_tokens = limits.max_source_tokens;
  out->max_source_bytes = limits.max_source_bytes;
  out->max_target_tokens = limits.max_target_tokens;
  out->beam_size = limits.beam_size;
  out->batch = limits.batch;
  out->n_best = limits.n_best;
  out->encoder_rows = limits.encoder_rows;
  out->max_candidates = limits.max_candidates;
  out->max_prefix_tokens = limits.max_prefix_tokens;
  return out;
}

std::unique_ptr<format::GenerationT> make_generation(const GenerationSpec& spec, const goldcrest_limits& limits) {
  auto out = std::make_unique<format::GenerationT>();
  out->decoder_start_id = spec.decoder_start_id;
  out->end_id = spec.end_id;
  out->pad_id = id_or_none(spec.pad_id);
  out->unknown_id = id_or_none(spec.unknown_id);
  out->forced_first_id = id_or_none(spec.forced_first_id);
  out->suppressed_ids = spec.suppressed_ids;
  out->source_prefix = spec.source_prefix;
  out->source_suffix = spec.source_suffix;
  out->beam_size = std::min(spec.beam_size, limits.beam_size);
  out->max_target_tokens = spec.max_target_tokens == 0 ? limits.max_target_tokens
                                                       : std::min(spec.max_target_tokens, limits.max_target_tokens);
  out->min_target_tokens = std::min(spec.min_target_tokens, out->max_target_tokens);
  out->length_penalty = spec.length_penalty;
  out->word_penalty = spec.word_penalty;
  set_rules(spec.rules, *out);
  out->first_choices = spec.prompt.first_choices;
  out->forced_ids = spec.prompt.forced_ids;
  out->first_suppressed_ids = spec.prompt.first_suppressed_ids;
  for (const SequenceSpec& sequence : spec.sequences.list) {
    out->sequences.push_back(static_cast<uint32_t>(sequence.ids.size()));
    out->sequences.insert(out->sequences.end(), sequence.ids.begin(), sequence.ids.end());
    out->sequence_biases.push_back(sequence.bias);
  }
  out->no_repeat_source_ngram = spec.sequences.no_repeat_source_ngram;
  out->unknown_heads = spec.unknown.heads;
  out->unknown_layer = spec.unknown.layer;
  out->alignment_heads = spec.alignment_heads;
  out->first_timestamp = spec.first_timestamp;
  out->max_first_timestamp = spec.max_first_timestamp;
  return out;
}

std::unique_ptr<format::ProvenanceT> make_provenance(
    const ModelSpec& spec, const std::optional<std::string>& license, const std::optional<std::string>& attribution) {
  auto out = std::make_unique<format::ProvenanceT>();
  out->name = spec.name;
  out->source_language = spec.source_language;
  out->target_language = spec.target_language;
  out->license = license.value_or(spec.license);
  out->attribution = attribution.value_or(spec.attribution);
  out->checkpoint_sha256 = spec.checkpoint_sha256;
  out->dialect = spec.dialect;
  out->converter_version = GOLDCREST_VERSION;
  return out;
}
}  // namespace goldcrest::converter
