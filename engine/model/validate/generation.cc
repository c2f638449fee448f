// SPDX-License-Identifier: Apache-2.0
// Checks the defaults of the search, the limits and the self-test lines (FORMAT.md, sections 3 and 7).
#include "base/exact_floats.h"
#include "model/validate/validator.h"

namespace goldcrest {
int32_t find_bad_sequence(const goldcrest_sequences& sequences, uint32_t vocab_size) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < sequences.n; ++i) {
    const int32_t* const ids = sequences.ids + at;
    const uint32_t left = sequences.n_ids - at, n = left != 0 ? static_cast<uint32_t>(*ids) : 0;
    bool is_good = n != 0 && n < left;
    for (uint32_t j = 1; is_good && j <= n; ++j) is_good = static_cast<uint32_t>(ids[j]) < vocab_size;
    const float bias = sequences.biases != nullptr ? sequences.biases[i] : 0.0f;
    if (!is_good || !(bias <= kMaxBias && (bias >= -kMaxBias || bias == -__builtin_huge_valf())))
      return static_cast<int32_t>(i);
    at += n + 1;
  }
  return at == sequences.n_ids ? -1 : static_cast<int32_t>(sequences.n);
}

int Validator::check_ids(const format::Vector<uint32_t>* ids, uint32_t vocab_size, const char* name, int32_t index) {
  if (ids == nullptr) return GOLDCREST_OK;
  GOLDCREST_REQUIRE_INTACT(ids->size() <= kMaxPositions, name, index);
  for (uint32_t id : *ids) GOLDCREST_REQUIRE_INTACT(id < vocab_size, name, index);
  return GOLDCREST_OK;
}

int Validator::check_generation() {
  const format::Generation* table = model_->generation();
  GOLDCREST_REQUIRE_INTACT(table != nullptr, "generation: missing", -1);
  const auto optional_id = [this](int32_t id) {
    return id == -1 || (id >= 0 && static_cast<uint32_t>(id) < target_vocab_size_);
  };
  GOLDCREST_REQUIRE_INTACT(table->decoder_start_id() < target_vocab_size_, "generation.decoder_start_id", -1);
  GOLDCREST_REQUIRE_INTACT(table->end_id() < target_vocab_size_, "generation.end_id", -1);
  GOLDCREST_REQUIRE_INTACT(optional_id(table->pad_id()), "generation.pad_id", -1);
  GOLDCREST_REQUIRE_INTACT(optional_id(table->unknown_id()), "generation.unknown_id", -1);
  GOLDCREST_REQUIRE_INTACT(optional_id(table->forced_first_id()), "generation.forced_first_id", -1);
  GOLDCREST_TRY(check_ids(table->suppressed_ids(), target_vocab_size_, "generation.suppressed_ids", -1));
  GOLDCREST_TRY(check_ids(table->source_prefix(), source_vocab_size_, "generation.source_prefix", -1));
  GOLDCREST_TRY(check_ids(table->source_suffix(), source_vocab_size_, "generation.source_suffix", -1));
  GOLDCREST_REQUIRE_INTACT(table->beam_size() >= 1 && table->beam_size() <= kMaxBeams, "generation.beam_size", -1);
  GOLDCREST_REQUIRE_INTACT(table->max_target_tokens() >= 1 && table->min_target_tokens() <= table->max_target_tokens(),
      "generation.max_target_tokens", -1);
  GOLDCREST_REQUIRE_INTACT(
      in_range(table->length_penalty(), kMinLengthPenalty, kMaxLengthPenalty), "generation.length_penalty", -1);
  GOLDCREST_REQUIRE_INTACT(
      in_range(table->word_penalty(), kMinWordPenalty, kMaxWordPenalty), "generation.word_penalty", -1);
  GOLDCREST_REQUIRE_INTACT(!kHasInspection || (table->unknown_heads() <= model_->decoder()->n_heads() &&
                                                  table->unknown_layer() < model_->decoder()->layers()->size()),
      "generation.unknown_heads", -1);
  if constexpr (kHasInspection) {
    const uint32_t n_heads = model_->decoder()->n_heads() * model_->decoder()->layers()->size();
    GOLDCREST_TRY(check_ids(table->alignment_heads(), n_heads, "generation.alignment_heads", -1));
  }
  if (has_feature(features_, kFeatureRules)) return check_rules(*table);
  return has_feature(features_, kFeatureFrontend) ? check_length_factor(*table) : GOLDCREST_OK;
}

int Validator::check_length_factor(const format::Generation& table) {
  GOLDCREST_REQUIRE_INTACT(
      table.max_length_factor() == 0.0f || in_range(table.max_length_factor(), kMinLengthFactor, kMaxLengthFactor),
      "generation.max_length_factor", -1);
  return GOLDCREST_OK;
}

int Validator::check_rules(const format::Generation& table) {
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_VALIDATE_##kind(field, __VA_ARGS__)
#define GOLDCREST_VALIDATE_FLAG(...)
#define GOLDCREST_VALIDATE_COUNT(...)
#define GOLDCREST_VALIDATE_WORD(field, type, last, ...) \
  GOLDCREST_REQUIRE_INTACT(table.field() < last, "generation." #field, -1);
#define GOLDCREST_VALIDATE_NUMBER(field, none, least, largest, ...) \
  GOLDCREST_REQUIRE_INTACT(table.field() == none || in_range(table.field(), least, largest), "generation." #field, -1);
#include "goldcrest/search_rules.h"
  GOLDCREST_TRY(check_ids(table.more_end_ids(), target_vocab_size_, "generation.more_end_ids", -1));
  GOLDCREST_REQUIRE_INTACT(
      table.more_end_ids() == nullptr || table.more_end_ids()->size() <= kMaxMoreEnds, "generation.more_end_ids", -1);
  GOLDCREST_TRY(check_ids(table.biased_ids(), target_vocab_size_, "generation.biased_ids", -1));
  const uint32_t n_biased = table.biased_ids() != nullptr ? table.biased_ids()->size() : 0;
  GOLDCREST_REQUIRE_INTACT(
      n_biased == (table.biases() != nullptr ? table.biases()->size() : 0), "generation.biases", -1);
  for (uint32_t i = 0; i < n_biased; ++i) {
    GOLDCREST_REQUIRE_INTACT(
        i == 0 || table.biased_ids()->at(i - 1) < table.biased_ids()->at(i), "generation.biased_ids: ascending", -1);
    GOLDCREST_REQUIRE_INTACT(in_range(table.biases()->at(i), -kMaxBias, kMaxBias), "generation.biases", -1);
  }
  return GOLDCREST_OK;
}

int Validator::check_sequences() {
  const goldcrest_sequences sequences = view_sequences(file_);
  const int32_t bad = find_bad_sequence(sequences, target_vocab_size_);
  GOLDCREST_REQUIRE_INTACT(bad < 0, "generation.sequences", bad);
  GOLDCREST_REQUIRE_INTACT(
      sequences.no_repeat_source_ngram == 0 || !has_frontend(), "generation.no_repeat_source_ngram", -1);
  return GOLDCREST_OK;
}

int Validator::check_limits() {
  const format::Limits* table = model_->limits();
  GOLDCREST_REQUIRE_INTACT(table != nullptr, "limits: missing", -1);
  GOLDCREST_REQUIRE_INTACT(
      table->max_source_tokens() >= 1 && table->max_source_tokens() <= model_->encoder()->max_positions(),
      "limits.max_source_tokens", -1);
  GOLDCREST_REQUIRE_INTACT(
      table->max_target_tokens() >= 1 && table->max_target_tokens() <= model_->decoder()->max_positions(),
      "limits.max_target_tokens", -1);
  GOLDCREST_REQUIRE_INTACT(table->max_source_bytes() <= (model_->tokenizer() != nullptr ? kMaxSourceBytes : 0),
      "limits.max_source_bytes", -1);
  GOLDCREST_REQUIRE_INTACT(table->beam_size() >= 1 && table->beam_size() <= kMaxBeams, "limits.beam_size", -1);
  GOLDCREST_REQUIRE_INTACT(table->batch() >= 1 && table->batch() <= kMaxBatch, "limits.batch", -1);
  GOLDCREST_REQUIRE_INTACT(table->n_best() >= 1 && table->n_best() <= table->beam_size(), "limits.n_best", -1);
  GOLDCREST_REQUIRE_INTACT(
      table->encoder_rows() >= 1 && table->encoder_rows() <= kMaxEncoderRows, "limits.encoder_rows", -1);
  return GOLDCREST_OK;
}

int Validator::check_self_tests() {
  if (model_->self_test() == nullptr) return GOLDCREST_OK;
  for (uint32_t i = 0; i < model_->self_test()->size(); ++i) {
    const format::SelfTestLine* line = model_->self_test()->at(i);
    const int32_t index = static_cast<int32_t>(i);
    if (has_frontend()) GOLDCREST_TRY(check_samples(*line, index));
    GOLDCREST_REQUIRE_INTACT(has_frontend() ? line->source() == nullptr
                                            : line->source() != nullptr && line->source()->size() >= 1 &&
                                                  line->source()->size() <= model_->limits()->max_source_tokens(),
        "self_test.source", index);
    GOLDCREST_REQUIRE_INTACT(line->target() != nullptr && line->target()->size() >= 1 &&
                                 line->target()->size() <= model_->limits()->max_target_tokens() &&
                                 line->n_forced() <= 1,
        "self_test.target", index);
    GOLDCREST_TRY(check_ids(line->source(), source_vocab_size_, "self_test.source", index));
    GOLDCREST_TRY(check_ids(line->target(), target_vocab_size_, "self_test.target", index));
  }
  return GOLDCREST_OK;
}
}  // namespace goldcrest
