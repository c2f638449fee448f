// SPDX-License-Identifier: Apache-2.0
// Makes the views of model_view.h but for frontends (frontend_view.cc), languages and lexicons (option_views.cc).
#include "base/exact_floats.h"
#include "base/build_options.h"
#include "model/frontend_view.h"
#include "model/model_view.h"
// clang-format off
#include "schema/model_reader_generated.h"
#include "model/resolver.h"
// clang-format on

namespace goldcrest {
namespace {
// Compares the numbers of enumerators of the schema and of a view. validate_model has checked the ranges.
template <typename View, typename Stored> constexpr bool same(View view, Stored stored) {
  return static_cast<uint32_t>(view) == static_cast<uint32_t>(stored);
}
static_assert(same(Layout::kRowMajor, format::Layout::RowMajor) && same(Layout::kN16K4, format::Layout::N16K4) &&
              same(Layout::kN4K16, format::Layout::N4K16) && format::Layout::MAX == format::Layout::N4K16);
static_assert(same(Activation::kRelu, format::Activation::Relu) && same(Activation::kGelu, format::Activation::Gelu) &&
              same(Activation::kGeluTanh, format::Activation::GeluTanh) &&
              same(Activation::kSilu, format::Activation::Silu) && same(Activation::kTanh, format::Activation::Tanh) &&
              format::Activation::MAX == format::Activation::None);  // stacks take neither Tanh nor None
static_assert(same(TokenizerKind::kUnigram, format::TokenizerKind::Unigram) &&
              same(TokenizerKind::kBpe, format::TokenizerKind::Bpe) &&
              same(TokenizerKind::kWord, format::TokenizerKind::Word) &&
              same(TokenizerKind::kCharacter, format::TokenizerKind::Character) &&
              same(TokenizerKind::kSubword, format::TokenizerKind::MAX));

// Fills in the blocks of a layer of view.kind.
template <typename View> void view_blocks(const Resolver& resolver, const format::Layer& table, View& view) {
  for_each_block(
      [&](auto block, const auto* from, auto& to) {
        if (block.belongs(view.kind)) resolver.block(block, *from, to);
      },
      table, view);
}

// Finds a layer's matrices with remainders: sets `source` if one that reads the source has them, `target` for others.
template <typename Layer>
[[maybe_unused, gnu::cold]] void find_remainders(const Layer& layer, bool& source, bool& target) {
  const LayerKind kind = {kCanHold<CrossAttentionBlock, Layer>, layer.kind.is_recurrent(), layer.kind.features};
  const auto add = [&](const MatrixEntry& entry, const LinearView& matrix) __attribute__((always_inline)) {
    (entry.reads_source() ? source : target) |= matrix.has_remainders();
  };
  const auto add_block = [&](auto block, const auto& of_layer) __attribute__((always_inline)) {
    if (block.belongs(kind)) block.for_each_matrix(add, of_layer);
  };
  for_each_block(add_block, layer);
}

// Returns how many of the decoder's first n layers are recurrent.
uint32_t count_recurrent(const format::Model& model, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; ++i) count += has_recurrent(*model.decoder()->layers()->at(i)) ? 1 : 0;
  return count;
}

const char* text_or_empty(const format::String* text) { return text != nullptr ? text->data() : ""; }

uint32_t length(const format::Vector<uint32_t>* vector) { return vector != nullptr ? vector->size() : 0; }
const uint32_t* elements(const format::Vector<uint32_t>* list) { return list != nullptr ? list->data() : nullptr; }

IdList list_of(const format::Vector<uint32_t>* ids) { return {elements(ids), length(ids)}; }

uint32_t count_prompt(const format::Generation& table) {  // in ids
  return (length(table.first_choices()) > 0 ? 1 : 0) + length(table.forced_ids());
}

uint64_t join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

// The section Tokenizer. The offsets of the two tokenizer tables start from it.
struct TokenizerSection {
  explicit TokenizerSection(const void* file)
      : start(static_cast<const uint8_t*>(file) +
              size_t{section_offset(*format::GetModel(file), format::SectionKind::Tokenizer)} * kAlignment) {}
  template <typename T> const T* at(uint32_t units) const {
    return reinterpret_cast<const T*>(start + size_t{units} * kAlignment);
  }
  const uint8_t* start;
};
}  // namespace

[[gnu::noinline]] LinearView shared_linear(const Sections& sections, const format::Linear& table) {
  return Resolver(sections).linear(table);
}

NormView shared_norm(const Sections& sections, const format::Norm* table) { return Resolver(sections).norm(table); }

[[gnu::cold]] ModelView view_model(const void* model) {
  const format::Model& root = *format::GetModel(model);
  const Resolver resolver(root);
  ModelView view = {static_cast<const uint8_t*>(model), resolver.stack(*root.encoder()),
      resolver.stack(*root.decoder()), shared_linear(resolver, *root.projection()), root.projection()->n(),
      root.features(), count_recurrent(root, root.decoder()->layers()->size()), 1, 1, false, false};
  if constexpr (kHasAccuracy) {
    bool &source = view.fine_encoder, &target = view.fine_decoder;
    target = view.projection.has_remainders();
    for (uint32_t i = 0; i < view.encoder.n_layers; ++i) find_remainders(view_encoder_layer(model, i), source, source);
    for (uint32_t i = 0; i < view.decoder.n_layers; ++i) find_remainders(view_decoder_layer(model, i), source, target);
    view.refined_tables = refined_tables(root);
  }
  if (has_feature(root.features(), kFeatureRules)) {
    view.n_ends += length(root.generation()->more_end_ids());
    view.output_passes = root.generation()->repetition_penalty() != 1.0f ? 2 : 1;
  }
  return view;
}

EncoderLayerView view_encoder_layer(const void* model, uint32_t layer) {
  const format::Model& root = *format::GetModel(model);
  EncoderLayerView view;
  view.kind = {false, false, root.features()};
  view_blocks(Resolver(root), *root.encoder()->layers()->at(layer), view);
  return view;
}

DecoderLayerView view_decoder_layer(const void* model, uint32_t layer) {
  const format::Model& root = *format::GetModel(model);
  const format::Layer& table = *root.decoder()->layers()->at(layer);
  DecoderLayerView view;
  view.kind = {true, has_recurrent(table), root.features()};
  const uint32_t n_recurrent = count_recurrent(root, layer);
  view.index_among_kind = view.kind.is_recurrent() ? n_recurrent : layer - n_recurrent;
  view_blocks(Resolver(root), table, view);
  return view;
}

[[gnu::cold]] GenerationView view_generation(const void* model) {
  const format::Generation& table = *format::GetModel(model)->generation();
  GenerationView view = {};
  view.decoder_start_id = table.decoder_start_id();
  view.end_id = table.end_id();
  view.pad_id = table.pad_id();
  view.unknown_id = table.unknown_id();
  view.forced_first_id = table.forced_first_id();
  view.suppressed_ids = elements(table.suppressed_ids());
  view.n_suppressed = length(table.suppressed_ids());
  view.source_prefix = elements(table.source_prefix());
  view.n_prefix = length(table.source_prefix());
  view.source_suffix = elements(table.source_suffix());
  view.n_suffix = length(table.source_suffix());
  const uint32_t features = format::GetModel(model)->features();
  if (has_feature(features, kFeatureRules)) {
    view.more_end_ids = elements(table.more_end_ids());
    view.n_more_ends = length(table.more_end_ids());
    view.biased_ids = elements(table.biased_ids());
    view.n_biased = length(table.biased_ids());
    view.biases = view.n_biased > 0 ? table.biases()->data() : nullptr;
  }
  view.n_prompt = view.forced_first_id >= 0 ? 1 : 0;
  if (has_feature(features, kFeaturePrompt)) {
    view.first_choices = list_of(table.first_choices());
    view.forced_ids = elements(table.forced_ids());
    view.first_suppressed_ids = list_of(table.first_suppressed_ids());
    view.n_prompt += count_prompt(table);  // none with a forced first id
  }
  if (kHasTimestamps && has_feature(features, kFeatureTimestamps)) {
    view.first_timestamp = table.first_timestamp();
    view.max_first_timestamp = table.max_first_timestamp();
  }
  if constexpr (kHasInspection) {
    view.unknown_heads = table.unknown_heads();
    view.unknown_layer = table.unknown_layer();
    view.alignment_heads = list_of(table.alignment_heads());
  }
  return view;
}

[[gnu::cold]] goldcrest_sequences view_sequences(const void* model) {
  goldcrest_sequences view = {};
  if (!has_feature(format::GetModel(model)->features(), kFeatureSequences)) return view;
  const format::Generation& table = *format::GetModel(model)->generation();
  view.ids = reinterpret_cast<const int32_t*>(elements(table.sequences()));
  view.n_ids = length(table.sequences());
  if (const auto* biases = table.sequence_biases()) {
    view.biases = biases->data();
    view.n = biases->size();
  }
  view.no_repeat_source_ngram = table.no_repeat_source_ngram();
  return view;
}

// Values of rules in a file as goldcrest_search has them: flags, words, counts and numbers.
static uint8_t of_file(bool is_so) { return is_so ? GOLDCREST_YES : GOLDCREST_NO; }
static uint8_t of_file(uint8_t word) { return static_cast<uint8_t>(word + 1); }
static uint32_t of_file(uint32_t value) { return value != 0 ? value : UINT32_MAX; }
static float of_file(float value) { return value != 0.0f ? value : __builtin_huge_valf(); }

[[gnu::cold]] void view_rules(const void* model, goldcrest_search* search) {
  const format::Generation& table = *format::GetModel(model)->generation();
#define GOLDCREST_RULE(kind, field, ...) search->field = of_file(table.field());
#include "goldcrest/search_rules.h"
}

uint32_t count_self_tests(const void* model) {
  const auto* lines = format::GetModel(model)->self_test();
  return lines != nullptr ? lines->size() : 0;
}

[[gnu::cold]] SelfTestView view_self_test(const void* model, uint32_t line) {
  const format::SelfTestLine& table = *format::GetModel(model)->self_test()->at(line);
  const auto* samples = table.samples();
  return {elements(table.source()), samples != nullptr ? samples->data() : nullptr, elements(table.target()),
      samples != nullptr ? samples->size() : length(table.source()), length(table.target()),
      join(table.hash_low(), table.hash_high()), table.shortlist(), table.n_forced() != 0};
}

// Fills in what the model hears.
[[maybe_unused, gnu::cold]] static void view_audio_info(const void* model, goldcrest_info* info) {
  if (!has_feature(format::GetModel(model)->features(), kFeatureFrontend)) return;
  const FrontendView view = view_frontend(model);
  info->sample_rate = view.sample_rate;
  info->feature_channels = view.has_log_mel || view.sample_rate == 0 ? view.channels : 0;
  info->first_row_samples = view.fixed_window ? 1 : view.first_row * view.row_samples;
  info->row_samples = view.row_stride * view.row_samples;
  info->fixed_window = view.fixed_window;
}

[[gnu::cold]] void view_info(const void* model, size_t model_bytes, goldcrest_info* info) {
  const format::Model& root = *format::GetModel(model);
  const ModelView view = view_model(model);
  *info = goldcrest_info{};
  info->format_version = root.format_version();
  info->file_bytes = model_bytes;
  info->weights_hash = join(root.weights_hash_low(), root.weights_hash_high());
  info->source_vocab_size = view.encoder.embedding.vocab_size;
  info->target_vocab_size = view.vocab_size;
  info->encoder_layers = view.encoder.n_layers;
  info->decoder_layers = view.decoder.n_layers;
  info->encoder_d_model = view.encoder.d_model;
  info->decoder_d_model = view.decoder.d_model;
  info->encoder_d_ff = root.encoder()->d_ff();
  info->decoder_d_ff = root.decoder()->d_ff();
  info->encoder_heads = view.encoder.n_heads;
  info->decoder_heads = view.decoder.n_heads;
  info->max_source_positions = view.encoder.max_positions;
  info->max_target_positions = view.decoder.max_positions;
  info->weight_bits = has_feature(root.features(), kFeaturePacked) ? 4 : 8 * bytes_of(view.projection.weight_type);
  info->has_tokenizer = root.tokenizer() != nullptr;
  info->has_detokenizer = root.detokenizer() != nullptr;

  const format::Generation& generation = *root.generation();
  info->decoder_start_id = static_cast<int32_t>(generation.decoder_start_id());
  info->end_id = static_cast<int32_t>(generation.end_id());
  info->pad_id = generation.pad_id();
  info->unknown_id = generation.unknown_id();
  const format::Limits& limits = *root.limits();
  if constexpr (kHasSpeech) view_audio_info(model, info);
  info->limits = {limits.max_source_tokens(), limits.max_source_bytes(), limits.max_target_tokens(), limits.beam_size(),
      limits.batch(), limits.n_best(), limits.encoder_rows(), 1, 0, 0, limits.max_candidates(),
      limits.max_prefix_tokens(), 0, has_feature(root.features(), kFeatureLexicon) ? 1u : 0u};
  info->prompt_tokens = count_prompt(generation);  // none with a forced first id
  info->search.beam_size = generation.beam_size();
  info->search.min_target_tokens = generation.min_target_tokens();
  info->search.max_target_tokens = generation.max_target_tokens();
  info->search.length_penalty = generation.length_penalty();
  info->search.word_penalty = generation.word_penalty();
  if constexpr (kHasSearch) view_rules(model, &info->search);

  const format::Provenance* provenance = root.provenance();
  info->name = provenance ? text_or_empty(provenance->name()) : "";
  info->source_language = provenance ? text_or_empty(provenance->source_language()) : "";
  info->target_language = provenance ? text_or_empty(provenance->target_language()) : "";
  info->license = provenance ? text_or_empty(provenance->license()) : "";
  info->attribution = provenance ? text_or_empty(provenance->attribution()) : "";
  info->checkpoint_sha256 = provenance ? text_or_empty(provenance->checkpoint_sha256()) : "";
  info->dialect = provenance ? text_or_empty(provenance->dialect()) : "";
  info->converter_version = provenance ? text_or_empty(provenance->converter_version()) : "";
}

[[gnu::cold]] bool view_tokenizer(const void* model, TokenizerView* view) {
  const format::Tokenizer* table = format::GetModel(model)->tokenizer();
  if (table == nullptr) return false;
  const TokenizerSection section(model);
  *view = {};
  view->kind = static_cast<TokenizerKind>(table->kind());
  view->byte_fallback = table->byte_fallback();
  view->add_dummy_prefix = table->add_dummy_prefix();
  view->remove_extra_whitespace = table->remove_extra_whitespace();
  view->escape_whitespace = table->escape_whitespace();
  view->whitespace_as_suffix = table->whitespace_as_suffix();
  view->language_codes = table->language_codes();
  view->has_user_defined = table->has_user_defined();
  view->vocab_size = table->vocab_size();
  view->n_pieces = table->n_pieces();
  view->trie = section.at<uint32_t>(table->trie());
  view->trie_units = table->trie_units();
  view->score = section.at<float>(table->score());
  view->type = section.at<uint8_t>(table->type());
  view->byte_ids = table->byte_fallback() ? section.at<uint32_t>(table->byte_ids()) : nullptr;
  view->normalizer_trie = section.at<uint32_t>(table->normalizer_trie());
  view->normalizer_trie_units = table->normalizer_trie_units();
  view->normalizer_text = section.at<char>(table->normalizer_text());
  view->normalizer_text_bytes = table->normalizer_text_bytes();
  view->unknown_id = table->unknown_id();
  view->max_piece_bytes = table->max_piece_bytes();
  view->unknown_score = table->unknown_score();
  view->max_score = table->max_score();
  view->added = elements(table->added());
  view->n_added = length(table->added());
  return true;
}

[[gnu::cold]] bool view_detokenizer(const void* model, DetokenizerView* view) {
  const format::Detokenizer* table = format::GetModel(model)->detokenizer();
  if (table == nullptr) return false;
  const TokenizerSection section(model);
  *view = {};
  view->kind = static_cast<TokenizerKind>(table->kind());
  view->add_dummy_prefix = table->add_dummy_prefix();
  view->remove_extra_whitespace = table->remove_extra_whitespace();
  view->n_pieces = table->n_pieces();
  view->text_offset = section.at<uint32_t>(table->text_offset());
  view->text = section.at<char>(table->text());
  view->text_bytes = table->text_bytes();
  view->type = section.at<uint8_t>(table->type());
  return true;
}

[[gnu::cold]] bool view_shortlist(const void* model, ShortlistView* view) {
  const format::Model& root = *format::GetModel(model);
  const format::Shortlist* table = root.shortlist();
  if (table == nullptr) return false;
  const TokenizerSection section(model);
  view->always = section.at<uint8_t>(table->always());
  view->ids = section.at<uint8_t>(table->ids());
  view->offset = section.at<uint32_t>(table->offset());
  view->ngram_keys = section.at<uint32_t>(table->ngram_keys());
  view->n_always = table->n_always();
  view->n_source_ids = root.encoder()->embedding()->vocab_size();
  view->n_ngrams = table->n_ngrams();
  view->max_ngram = table->max_ngram();
  view->wide_ids = has_wide_ids(root.projection()->n());
  return true;
}
}  // namespace goldcrest
