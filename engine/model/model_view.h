// SPDX-License-Identifier: Apache-2.0
// A typed read-only view of a validated model file: its dimensions, and the offset of each tensor. Offsets are in
// 64-byte units from the start of the file, so a view has the same size on every machine.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/align.h"
#include "base/build_options.h"
#include "goldcrest/decoding.h"
#include "model/blocks.h"
#include "model/tokenizer_view.h"

namespace goldcrest {
struct EmbeddingView {
  uint32_t weights;     // int8 [vocab_size padded, d_model padded] in `layout`; row-major float in float32 files
  uint32_t scale;       // float [vocab_size padded]; none in float32 files
  uint32_t vocab_size;  // not padded
  Layout layout;
  bool packed;  // read it with is_packed()

  [[gnu::always_inline]] bool is_packed() const { return has_packed(packed); }
};

// The angles by which heads turn (layers/rotary.h).
struct RotaryView {
  uint32_t table;  // float [max_positions, 2, half]: cos, then sin
  uint32_t half;   // columns; 0: heads do not turn
};

// With integer attention: 127 * (the largest sum of weights, 2^24, + half a unit for each key) is below 2^31.
constexpr uint32_t kMostIntegerKeys = 131072;

struct StackView {
  uint32_t d_model;          // not padded
  uint32_t d_model_padded;   // the stride of every activation row
  uint32_t d_ff;             // not padded
  uint32_t n_heads, d_head;  // d_head % 16 == 0
  uint32_t n_layers;
  CacheType cache_type;
  bool integer_attention;  // read it with has_integer_attention()
  InputType input_type;
  uint32_t max_positions;
  uint32_t positions;  // float [max_positions, d_model_padded]
  Activation activation;
  bool pre_norm;        // norm before each block; false: after its residual
  bool gated;           // read it with has_gates()
  bool centred;         // norms subtract the mean
  bool positions_used;  // false: one row for all positions
  float attention_scale;
  float embedding_scale;
  EmbeddingView embedding;
  NormView embedding_norm, final_norm;
  RotaryView rotary;

  uint32_t attention_width() const { return n_heads * d_head; }
  // Returns whether feed-forward blocks have a gate.
  [[gnu::always_inline]] bool has_gates() const { return kHasLayers && gated; }
  // Returns whether queries and keys turn by their position.
  [[gnu::always_inline]] bool turns() const { return kHasLayers && rotary.half != 0; }
  [[gnu::always_inline]] bool has_float32_cache() const { return kHasFloat32 && cache_type == CacheType::kFloat32; }
  // Returns whether queries, keys and values are fine rows (kernels/kernels.h).
  [[gnu::always_inline]] bool has_fine_attention() const { return kHasAccuracy && cache_type == CacheType::kFine; }
  // Returns whether weights of attention are integers (kernels/kernels.h).
  [[gnu::always_inline]] bool has_integer_attention() const { return kHasAccuracy && integer_attention; }
};

struct ModelView {
  const uint8_t* file;
  StackView encoder, decoder;
  LinearView projection;  // [vocab_size padded, d_model]
  uint32_t vocab_size;    // target; not padded
  uint32_t features;      // bits of base/build_options.h
  uint32_t n_recurrent;   // read it with count_recurrent()
  // Set by the file's rules, in builds with rules (decoding/limits/rules.h).
  uint32_t n_ends;         // ids that end a text
  uint32_t output_passes;  // how often beams compute the output layer at a position
  // Some matrix that multiplies the encoder's rows, or the decoder's, has remainders.
  bool fine_encoder, fine_decoder;
  bool coarse = false;         // set by each search: no products of remainders (GOLDCREST_SEARCH_COARSE)
  uint8_t refined_tables = 0;  // bit 0, 1: the encoder's, the decoder's embedding has a second matrix

  // Returns the number of recurrent layers of the decoder.
  uint32_t count_recurrent() const { return kHasLayers ? n_recurrent : 0; }
  // Returns whether this search adds the second matrix of a stack's embedding.
  bool refines_table(const StackView& stack) const {
    return kHasAccuracy && (refined_tables & (&stack == &decoder ? 2 : 1)) != 0 && !coarse;
  }
};

// Returns whether sources are samples or feature rows, not ids.
constexpr bool has_frontend(const ModelView& model) {
  return kHasSpeech && has_feature(model.features, kFeatureFrontend);
}

struct IdList {
  const uint32_t* ids;  // [n]
  uint32_t n;
};
constexpr uint32_t kNoId = UINT32_MAX;

// Ids and defaults of the search, and the ids before and after those of a text. Arrays point into the file.
struct GenerationView {
  uint32_t decoder_start_id, end_id;
  int32_t pad_id, unknown_id, forced_first_id;  // -1: none
  const uint32_t* suppressed_ids;               // [n_suppressed]
  const uint32_t* source_prefix;                // [n_prefix]
  const uint32_t* source_suffix;                // [n_suffix]
  uint32_t n_suppressed, n_prefix, n_suffix;
  // Rules.
  const uint32_t* more_end_ids;  // [n_more_ends], in addition to end_id
  const uint32_t* biased_ids;    // [n_biased], ascending
  const float* biases;           // [n_biased]
  uint32_t n_more_ends, n_biased;
  // The prompt; without GOLDCREST_PROMPT only the forced first id.
  IdList first_choices;                   // ascending
  const uint32_t* forced_ids;             // after the first choice
  IdList first_suppressed_ids;            // right after the prompt
  uint32_t n_prompt;                      // ids: the forced first id, or the first choice and the forced ids
  uint32_t unknown_heads, unknown_layer;  // for programs that replace unknown tokens
  IdList alignment_heads;                 // for programs that tell the times of words
  uint32_t first_timestamp;               // 0: none
  uint32_t max_first_timestamp;           // the latest that may come first is this many after it
};

// Where the language of a source, or of its target, acts.
enum class LanguagePlace : uint8_t { kNowhere, kBeforeText, kBehindText, kForcedFirst, kStart };

// The languages of sources, or of targets: their ids, kNoId for a language that is not one of this side. n: the number
// of languages of both sides; 0 if the place is kNowhere.
struct LanguageSide : IdList {
  uint32_t by_default;  // index; UINT32_MAX: none
  LanguagePlace place;
};

// The table of languages of a file.
struct LanguagesView {
  LanguageSide sides[2];  // sources', targets'
  uint32_t n;             // languages

  const LanguageSide& of_sources() const { return sides[0]; }
  const LanguageSide& of_targets() const { return sides[1]; }
};

// Returns whether a place acts on sources that are given as ids too.
constexpr bool acts_on_ids(LanguagePlace place) { return place >= LanguagePlace::kForcedFirst; }

// The shortlist of a file. Ids of the target are uint16 or uint32.
struct ShortlistView {
  const void* always;          // [n_always]
  const void* ids;             // [last value of offset]
  const uint32_t* offset;      // [n_source_ids + n_ngrams + 1]
  const uint32_t* ngram_keys;  // [n_ngrams, max_ngram], shorter ones end with kNoId
  uint32_t n_always, n_source_ids, n_ngrams, max_ngram;
  bool wide_ids;  // uint32
};
constexpr bool has_wide_ids(uint32_t vocab_size) { return vocab_size > 65536; }

// One line of the file's self-test.
struct SelfTestView {
  const uint32_t* source;  // [n_source]; null with samples
  const int16_t* samples;  // [n_source]; null with source
  const uint32_t* target;  // [n_target], end token included
  uint32_t n_source, n_target;
  uint64_t hash;
  bool shortlist;  // among the source's candidates only
  bool is_forced;  // the first id of target is the line's language
};

// These functions trust the file: call validate_model first.
ModelView view_model(const void* model);
EncoderLayerView view_encoder_layer(const void* model, uint32_t layer);
DecoderLayerView view_decoder_layer(const void* model, uint32_t layer);
GenerationView view_generation(const void* model);
goldcrest_sequences view_sequences(const void* model);
// Writes the file's rules to *search; leaves all other fields as they are.
void view_rules(const void* model, goldcrest_search* search);
uint32_t count_self_tests(const void* model);
SelfTestView view_self_test(const void* model, uint32_t line);
void view_info(const void* model, size_t model_bytes, goldcrest_info* info);
bool view_tokenizer(const void* model, TokenizerView* view);      // false: the file has none
bool view_detokenizer(const void* model, DetokenizerView* view);  // false: the file has none
bool view_shortlist(const void* model, ShortlistView* view);      // false: the file has none
bool view_languages(const void* model, LanguagesView* view);      // false: the file has none
const char* view_language_code(const void* model, uint32_t language);
bool view_lexicon(const void* model, goldcrest_lexicon* view);  // false: the file has none
}  // namespace goldcrest
