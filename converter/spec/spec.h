// SPDX-License-Identifier: Apache-2.0
// The neutral float model between dialects (which fill it) and the quantizer (which reads it). A dialect knows nothing
// below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "host/lexicon.h"

namespace goldcrest::converter {
// Values in memory, or `n` values that `read` returns at each call. The latter are in memory from their first use until
// release(). Not thread-safe.
class MatrixValues {
 public:
  using Read = std::function<std::vector<float>()>;

  MatrixValues() = default;
  MatrixValues(std::vector<float> values) : values_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  MatrixValues(std::initializer_list<float> values) : values_(values) {}
  MatrixValues(size_t n, Read read) : n_(n), read_(std::move(read)) {}

  // Does not read the values.
  size_t size() const { return read_ ? n_ : values_.size(); }
  bool empty() const { return size() == 0; }

  const std::vector<float>& get() const {
    if (read_ && values_.empty()) values_ = read_();
    return values_;
  }
  const float* data() const { return get().data(); }
  float operator[](size_t i) const { return get()[i]; }
  friend bool operator==(const MatrixValues& a, const MatrixValues& b) { return a.get() == b.get(); }

  // Frees the memory if the values can be read again.
  void release() const {
    if (read_) std::vector<float>().swap(values_);
  }
  // Returns the values, and frees the copy here if they can be read again.
  std::vector<float> take() const {
    get();
    return read_ ? std::exchange(values_, {}) : values_;
  }
  // Returns the values for changes; from now on they stay in memory.
  std::vector<float>& edit() {
    get();
    read_ = nullptr;
    return values_;
  }
 private:
  size_t n_ = 0;  // for values that can be read
  Read read_;     // may be empty
  mutable std::vector<float> values_;
};

// A shortlist in the form of the model file: it tells which outputs are the candidates of a sentence.

struct NgramList {
  std::vector<uint32_t> ngram;  // consecutive source ids, at least two
  std::vector<uint32_t> ids;    // ascending
};

// The candidates of a sentence are `always`, the lists of its ids and the lists of its n-grams. All lists have target
// ids, ascending and without duplicates. End ids may be missing.
struct ShortlistSpec {
  std::vector<uint32_t> always;
  std::vector<uint64_t> offset;  // [source ids + 1]; the list of id i is ids[offset[i] .. offset[i + 1])
  std::vector<uint32_t> ids;
  std::vector<NgramList> ngrams;  // ascending by n-gram, each once
};

// Returns the candidates of a source, which includes the ids around its text: ascending, without duplicates, end ids
// included.
std::vector<uint32_t> candidates_of(
    const ShortlistSpec& shortlist, std::span<const int32_t> source, std::span<const uint32_t> end_ids);

// Row-major float matrix. `name` is the checkpoint's name for it, for messages and the report.
struct Matrix {
  std::string name;
  uint32_t rows = 0, columns = 0;
  MatrixValues values;     // [rows, columns]; with same_rows [columns]
  bool same_rows = false;  // all rows are equal: a shape without weights
  // [rows] if the checkpoint is int8, else empty. Row r is integers of -127 .. 127 times its scale, and the file keeps
  // them.
  std::vector<float> stored_scale = {};
  const float* row(uint32_t r) const { return values.data() + (same_rows ? 0 : size_t{r} * columns); }
};

// y = weight x + bias. Shared (tied) tables are the same Matrix object.
struct LinearSpec {
  LinearSpec() = default;
  // Braces inside braces would do, but GCC 12 destroys such a member twice if a later one throws.
  LinearSpec(std::shared_ptr<const Matrix> of_weight, std::vector<float> of_bias, bool fine = false)
      : weight(std::move(of_weight)), bias(std::move(of_bias)), fine_input(fine) {}

  std::shared_ptr<const Matrix> weight;  // [outputs, inputs]
  std::vector<float> bias;               // [outputs]; zeros when the checkpoint has none
  bool fine_input = false;               // int8 files: two int8 products, so that inputs have 16 bits
};

// One of the linear layers that a file stores in one matrix, in the order of its rows.
struct LinearPart {
  const char* name;  // in errors
  const LinearSpec* linear;
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta
struct NormSpec {
  std::vector<float> gamma, beta;  // [d_model]
  float epsilon = 1e-5f;
};

// Biases of the scores by head and distance: query i adds values[h, t - i + before] to its score with key t. Layers may
// share them.
struct AttentionBiasSpec {
  std::string name;                // the checkpoint's, for messages and the report
  uint32_t before = 0, after = 0;  // the largest distances of a key before and after a query
  std::vector<float> values;       // [n_heads, before + 1 + after]
  const float* row(uint32_t head) const { return values.data() + size_t{head} * (before + 1 + after); }
};

// The blocks of a layer. Their members are named like the matrices of a file, so the engine's lists find them
// (layer_blocks.h). If a checkpoint stores a matrix in parts, a function returns the parts.
struct AttentionSpec {
  LinearSpec query, key, value;  // [n_heads * d_head, d_model]; cross-attention: key and value [.., encoder's d_model]
  LinearSpec out;                // [d_model, n_heads * d_head]
  NormSpec norm;
  std::shared_ptr<const AttentionBiasSpec> bias = nullptr;  // self-attention only; null: none
  std::vector<LinearPart> query_key_value() const { return {{"query", &query}, {"key", &key}, {"value", &value}}; }
  std::vector<LinearPart> key_value() const { return {{"key", &key}, {"value", &value}}; }
};

// A simpler simple recurrent unit (Kim et al. 2019) with f = sigmoid(forget(x)). The cell of the previous position is
// +0 at first. cell = f * previous cell + (1 - f) * input(x); the block gives relu(cell).
struct RecurrentSpec {
  LinearSpec input, forget;  // [d_model, d_model]
  NormSpec norm;
  std::vector<LinearPart> input_forget() const { return {{"input", &input}, {"forget", &forget}}; }
};

// The first layer of a feed-forward block, [d_ff, d_model]. With a gate, activation(gate(x)) multiplies its outputs;
// without a gate the activation applies to them.
struct InnerSpec : LinearSpec {
  InnerSpec() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a layer without a gate is one
  InnerSpec(LinearSpec linear) : LinearSpec(std::move(linear)) {}
  std::optional<LinearSpec> gate = std::nullopt;  // [d_ff, d_model]; of all layers of a gated stack
};

struct FeedForwardSpec {
  InnerSpec in;    // [d_ff, d_model]
  LinearSpec out;  // [d_model, d_ff]
  NormSpec norm;
};

struct LayerSpec {
  std::optional<AttentionSpec> self_attention;   // or, in the decoder, `recurrent` in its place
  std::optional<AttentionSpec> cross_attention;  // decoder only
  FeedForwardSpec feed_forward;
  std::optional<RecurrentSpec> recurrent = std::nullopt;  // decoder only
};

enum class Activation { kRelu, kGelu, kGeluTanh, kSilu, kTanh, kNone };  // kGelu: erf; the last two: of convolutions

// Row i of the outputs is activation(linear(window i)). Window i is the input rows [i * stride - padding, i * stride -
// padding + kernel); rows outside of the input are zeros.
struct ConvolutionSpec {
  LinearSpec linear;  // [outputs, kernel * channels]; column t * channels + c reads channel c of a window's row t
  uint32_t channels = 0, kernel = 0, stride = 0, padding = 0;
  Activation activation = Activation::kGelu;
  std::optional<NormSpec> whole_norm = {};  // by mean and variance of all rows and channels of a clip
};

// log10 of the power of mel bands (FORMAT.md, "Log-mel"). Frame i is centred at sample i * hop.
struct LogMelSpec {
  uint32_t n_fft = 0, hop = 0;
  std::vector<float> window;  // [n_fft]
  Matrix filters;             // [bands, n_fft / 2 + 1]
};

// An image becomes patches by these settings (FORMAT.md, "Images").
struct ImageSpec {
  uint32_t height = 0, width = 0, resized_height = 0, resized_width = 0, patch_height = 0, patch_width = 0;
  bool cubic = false;
  float scale[3] = {}, offset[3] = {};  // by colour: a value is pixel * scale + offset
};

enum class FrontendInput { kSamples, kFrames };

// From samples of 16 bits, or from rows of features, to the rows of the encoder. The stack's positions are added to
// them.
struct FrontendSpec {
  FrontendInput input = FrontendInput::kSamples;
  uint32_t sample_rate = 0;   // samples a second
  uint32_t channels = 1;      // per row that the first convolution reads; 1: samples
  bool fixed_window = false;  // every clip is cut or filled up to as many rows as the stack has positions
  std::optional<LogMelSpec> log_mel = {};
  std::vector<ConvolutionSpec> convolutions;
  std::optional<ImageSpec> image = {};  // makes the frames
};

// Queries and keys of self-attention turn by their positions: in each head, columns c and c + half for c < half.
struct RotarySpec {
  Matrix table;       // [positions, 2 * half]: cosines, then sines
  uint32_t half = 0;  // a multiple of 16
};

struct StackSpec {
  uint32_t d_model = 0, d_ff = 0, n_heads = 0, d_head = 0;
  float attention_scale = 1;  // usually 1 / sqrt(d_head)
  Activation activation = Activation::kRelu;
  bool pre_norm = false;
  bool centred = true;                      // false: norms subtract no mean (RMS norm)
  bool gated = false;                       // every feed-forward block has a gate
  bool positions_used = true;               // false: `positions` only counts them, nothing is added
  std::shared_ptr<const Matrix> embedding;  // [vocab_size, d_model]
  float embedding_scale = 1;                // usually sqrt(d_model) or 1
  Matrix positions;                         // [max_positions, d_model], row p belongs to position p
  std::optional<NormSpec> embedding_norm, final_norm;
  std::vector<LayerSpec> layers;
  std::optional<RotarySpec> rotary = {};
  std::optional<FrontendSpec> frontend = {};  // the encoder's, in place of `embedding`
  std::optional<LinearSpec> head = {};        // the decoder's: activation(head(x)) is what final_norm takes
};

enum class TokenizerKind { kUnigram, kBpe, kWord, kCharacter, kSubword };

// SentencePiece's types, and kSurface: an entry that is found only by its whole text, because the segmenter does not
// propose it.
enum class PieceType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
  kSurface = 7
};

struct Piece {
  std::string text;  // UTF-8, with U+2581 for a space if the model uses it
  float score = 0;
  PieceType type = PieceType::kNormal;
};

// A merge of subword-nmt: two consecutive symbols of a word become one. A space at the end stands for the word's end.
struct Merge {
  std::string left, right;
};

// A token that the tokenizer was given in addition to its vocabulary, as by add_tokens. A text is split at it, and each
// part between is cut on its own (FORMAT.md, "Added tokens").
struct AddedToken {
  std::string text;
  uint32_t id = 0;
  bool strip_left = false, strip_right = false;  // takes the white space there
  bool single_word = false;                      // only where no letter or digit is next to it
  bool normalized = false;                       // is found in the normalized text
  bool special = false;                          // is not printed
  bool operator==(const AddedToken&) const = default;
};

// A tokenizer in the order of the checkpoint's ids. pieces[0..vocab_size) are the vocabulary. Further pieces are
// proposed by the segmenter but missing in the vocabulary; they give the unknown id. An id without text (a gap in
// vocab.json) has an empty text and kControl.
struct TokenizerSpec {
  TokenizerKind kind = TokenizerKind::kWord;
  uint32_t vocab_size = 0;
  std::vector<Piece> pieces;
  std::string precompiled_charsmap;  // SentencePiece's normalizer blob; empty: none
  bool byte_fallback = false, add_dummy_prefix = true, remove_extra_whitespace = true, escape_whitespace = true;
  bool whitespace_as_suffix = false, language_codes = false;
  uint32_t unknown_id = 0;
  std::string unknown_surface = " \u2047 ";  // the text for the unknown id
  std::vector<Merge> merges;    // kSubword: best first, without duplicates; pieces are as in subword_entry.h
  bool word_end_apart = false;  // kSubword: at first a word's end is a symbol of its own
  bool byte_level = false;      // texts of byte pieces are the bytes themselves, one or more
  std::vector<AddedToken> added = {};
  bool added_by_items = false;         // splits as transformers' tokenizers in Python do, not as the crate tokenizers
  bool added_keep_last_space = false;  // a part that ends with spaces keeps one
};

// Rules of a search other than lengths and suppressed ids; transformers' generate has most of them (FORMAT.md,
// "Rules"). The values of files are the defaults, and words are those of goldcrest_search.
#define GOLDCREST_FIRST_FLAG 0
#define GOLDCREST_FIRST_WORD 1  // Files begin at 0, the enumerations of goldcrest_search at 1.
#define GOLDCREST_FIRST_COUNT 0
#define GOLDCREST_FIRST_NUMBER 0
struct RulesSpec {
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_SPECIFY_##kind(field, __VA_ARGS__)
#define GOLDCREST_SPECIFY_FLAG(field, usual, ...) bool field = usual;
#define GOLDCREST_SPECIFY_WORD(field, type, ...) type field = type(1);
#define GOLDCREST_SPECIFY_COUNT(field, ...) uint32_t field = 0;
#define GOLDCREST_SPECIFY_NUMBER(field, none, ...) float field = none;
#include "goldcrest/search_rules.h"
  std::vector<uint32_t> more_end_ids = {};  // end a text as end_id does
  std::map<uint32_t, float> biases = {};    // by id
  bool operator==(const RulesSpec&) const = default;
};

// The ids with which every result begins. They cost no output layer and are in no score or length (FORMAT.md,
// "Prompts").
struct PromptSpec {
  std::vector<uint32_t> first_choices = {};         // ascending; the first id is the one with the largest logit
  std::vector<uint32_t> forced_ids = {};            // the ids after it
  std::vector<uint32_t> first_suppressed_ids = {};  // not generated right after the prompt
  bool operator==(const PromptSpec&) const = default;
  size_t size() const { return (first_choices.empty() ? 0 : 1) + forced_ids.size(); }
};

struct SequenceSpec {
  std::vector<uint32_t> ids;
  float bias;  // for the last id where the others precede it; -infinity: the sequence never appears
  bool operator==(const SequenceSpec&) const = default;
};

struct SequencesSpec {
  std::vector<SequenceSpec> list = {};
  uint32_t no_repeat_source_ngram = 0;  // 0: none
  bool operator==(const SequencesSpec&) const = default;
};

// Programs replace unknown tokens by the source token with the largest attention: the mean of the first heads of a
// decoder layer.
struct ReplacementSpec {
  uint32_t heads = 0, layer = 0;  // no heads: unknown tokens stay
};

struct GenerationSpec {
  uint32_t decoder_start_id = 0, end_id = 0;
  std::optional<uint32_t> pad_id, unknown_id, forced_first_id;
  std::vector<uint32_t> suppressed_ids;                // never generated
  std::vector<uint32_t> source_prefix, source_suffix;  // put around the ids of a text
  uint32_t beam_size = 1, min_target_tokens = 0,
           max_target_tokens = 0;  // max: end token included, start token excluded
  float length_penalty = 1, word_penalty = 0;
  RulesSpec rules;
  PromptSpec prompt;
  SequencesSpec sequences;
  ReplacementSpec unknown;
  uint32_t first_timestamp = 0, max_first_timestamp = 0;  // ids that are times; 0: none. The latest first, from there
  std::vector<uint32_t> alignment_heads;                  // these follow the speech: layer * n_heads + head; empty: all
  uint32_t max_prefix_tokens = 0;  // ids of a caller's prefix for which engines reserve memory by default
};

// Where the language of a source, or of its target, acts. kNowhere: there is one on that side, or it is fixed.
enum class LanguagePlace { kNowhere, kBeforeText, kBehindText, kForcedFirst, kStart };

// A language, as the checkpoint names it ("eng_Latn", "en_XX", "en"), and its id as a source's and as a target's
// language, if it can be both.
struct Language {
  std::string code;
  std::optional<uint32_t> source, target;
};

// The languages of a multilingual model whose vocabulary has an entry for each. The defaults are
// ModelSpec::source_language and target_language, if these are among them.
struct LanguagesSpec {
  std::vector<Language> entries;
  LanguagePlace source_place = LanguagePlace::kNowhere;  // or kBeforeText, kBehindText
  LanguagePlace target_place = LanguagePlace::kNowhere;  // or kBeforeText, kForcedFirst, kStart
  std::vector<uint32_t> introduction = {};               // source ids right before a target's language before the text
  std::vector<uint32_t> removed = {};                    // ids of languages that the file leaves out

  // Returns whether the file has a table, from which a program chooses for each source.
  bool is_table() const { return source_place != LanguagePlace::kNowhere || target_place != LanguagePlace::kNowhere; }
  // Returns null for a name that is none of them.
  const Language* find(const std::string& code) const {
    for (const Language& entry : entries)
      if (entry.code == code) return &entry;
    return nullptr;
  }
};

struct ModelSpec {
  StackSpec encoder, decoder;
  LinearSpec projection;  // [target vocab_size, d_model]; weight may be the decoder's (and the encoder's) embedding
  GenerationSpec generation;
  std::optional<TokenizerSpec> source_tokenizer, target_tokenizer;
  std::optional<ShortlistSpec> shortlist;
  std::optional<LexiconSpec> lexicon;
  LanguagesSpec languages;
  std::vector<float> voice;  // a detector (model/frontend_view.h, voice_floats); empty: none
  // The checkpoint's norms add this to the deviation; 0: they add epsilon to the variance. They are read as norms of
  // the variance (tutorials/tutorial.cc), and evaluate/deviation.h bounds the error.
  float deviation_epsilon = 0;
  uint32_t added_target_ids = 0;  // the last ids, which the checkpoint lacks; measures of logits skip them
  std::string name, source_language, target_language, license, attribution, dialect;
  std::vector<std::filesystem::path> tokenizer_files;  // files of the tokenizers
  std::string checkpoint_sha256;      // over the weight files, in shard order, then the tokenizers' files
  std::vector<std::string> warnings;  // for the user: a guessed setting, a tensor that was not used
};
}  // namespace goldcrest::converter
