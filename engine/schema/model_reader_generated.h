// SPDX-License-Identifier: Apache-2.0
// Made of model.fbs by make_reader.pl.
#pragma once

#include "schema/reader.h"

// clang-format off
namespace goldcrest::format {
inline namespace reader {
enum class SectionKind : uint8_t {
  Weights, Parameters, Positions, Tokenizer, MAX = Tokenizer,
};
enum class Layout : uint8_t {
  RowMajor, N16K4, N4K16, MAX = N4K16,
};
enum class Feature : uint32_t {
  None = 0, Float32 = 1, RmsNorm = 2, Gated = 4, AttentionBias = 8, Rotary = 16, Recurrent = 32, Frontend = 64,
  LogMel = 128, Prompt = 256, Shortlist = 512, Packed = 1024, Refined = 2048, RefinedWeights = 4096,
  FineAttention = 16384, IntegerAttention = 32768, Rules = 8192, Subword = 131072, Languages = 262144,
  Sequences = 524288, Lexicon = 1048576, Voice = 16777216, AddedTokens = 33554432, Timestamps = 134217728,
  Image = 268435456, MAX = Image,
};
enum class Activation : uint8_t {
  Relu, Gelu, GeluTanh, Silu, Tanh, None, MAX = None,
};
enum class TokenizerKind : uint8_t {
  Unigram, Bpe, Word, Character, Subword, MAX = Subword,
};
enum class FrontendInput : uint8_t {
  Samples, Frames, MAX = Frames,
};

struct Section : Table {
  enum : Slot {
    VT_KIND = 4, VT_OFFSET = 6, VT_SIZE = 8, VT_CRC32C = 10,
  };
  SectionKind kind() const { return static_cast<SectionKind>(number<uint8_t>(VT_KIND)); }
  uint32_t offset() const { return number<uint32_t>(VT_OFFSET); }
  uint64_t size() const { return number<uint64_t>(VT_SIZE); }
  uint32_t crc32c() const { return number<uint32_t>(VT_CRC32C); }
};

struct Linear : Table {
  enum : Slot {
    VT_N = 4, VT_K = 6, VT_LAYOUT = 8, VT_WEIGHTS = 10, VT_SCALE = 12, VT_BIAS = 14, VT_WEIGHT_SUM = 16,
    VT_FINE_INPUT = 18, VT_REFINED = 20, VT_PACKED = 22,
  };
  uint32_t n() const { return number<uint32_t>(VT_N); }
  uint32_t k() const { return number<uint32_t>(VT_K); }
  Layout layout() const { return static_cast<Layout>(number<uint8_t>(VT_LAYOUT)); }
  uint32_t weights() const { return number<uint32_t>(VT_WEIGHTS); }
  uint32_t scale() const { return number<uint32_t>(VT_SCALE); }
  uint32_t bias() const { return number<uint32_t>(VT_BIAS); }
  uint32_t weight_sum() const { return number<uint32_t>(VT_WEIGHT_SUM); }
  bool fine_input() const { return number<uint8_t>(VT_FINE_INPUT) != 0; }
  bool refined() const { return number<uint8_t>(VT_REFINED) != 0; }
  bool packed() const { return number<uint8_t>(VT_PACKED) != 0; }
};

struct Embedding : Table {
  enum : Slot {
    VT_VOCAB_SIZE = 4, VT_D_MODEL = 6, VT_LAYOUT = 8, VT_WEIGHTS = 10, VT_SCALE = 12, VT_REFINED = 14,
    VT_PACKED = 16,
  };
  uint32_t vocab_size() const { return number<uint32_t>(VT_VOCAB_SIZE); }
  uint32_t d_model() const { return number<uint32_t>(VT_D_MODEL); }
  Layout layout() const { return static_cast<Layout>(number<uint8_t>(VT_LAYOUT)); }
  uint32_t weights() const { return number<uint32_t>(VT_WEIGHTS); }
  uint32_t scale() const { return number<uint32_t>(VT_SCALE); }
  bool refined() const { return number<uint8_t>(VT_REFINED) != 0; }
  bool packed() const { return number<uint8_t>(VT_PACKED) != 0; }
};

struct Norm : Table {
  enum : Slot {
    VT_GAMMA = 4, VT_BETA = 6, VT_EPSILON = 8,
  };
  uint32_t gamma() const { return number<uint32_t>(VT_GAMMA); }
  uint32_t beta() const { return number<uint32_t>(VT_BETA); }
  float epsilon() const { return number<float>(VT_EPSILON); }
};

struct AttentionBias : Table {
  enum : Slot {
    VT_TABLE = 4, VT_BEFORE = 6, VT_AFTER = 8,
  };
  uint32_t table() const { return number<uint32_t>(VT_TABLE); }
  uint32_t before() const { return number<uint32_t>(VT_BEFORE); }
  uint32_t after() const { return number<uint32_t>(VT_AFTER); }
};

struct SelfAttention : Table {
  enum : Slot {
    VT_QUERY_KEY_VALUE = 4, VT_OUT = 6, VT_NORM = 8, VT_BIAS = 10,
  };
  const Linear* query_key_value() const { return content<Linear>(VT_QUERY_KEY_VALUE); }
  const Linear* out() const { return content<Linear>(VT_OUT); }
  const Norm* norm() const { return content<Norm>(VT_NORM); }
  const AttentionBias* bias() const { return content<AttentionBias>(VT_BIAS); }
};

struct CrossAttention : Table {
  enum : Slot {
    VT_QUERY = 4, VT_KEY_VALUE = 6, VT_OUT = 8, VT_NORM = 10,
  };
  const Linear* query() const { return content<Linear>(VT_QUERY); }
  const Linear* key_value() const { return content<Linear>(VT_KEY_VALUE); }
  const Linear* out() const { return content<Linear>(VT_OUT); }
  const Norm* norm() const { return content<Norm>(VT_NORM); }
};

struct FeedForward : Table {
  enum : Slot {
    VT_IN = 4, VT_OUT = 6, VT_NORM = 8,
  };
  const Linear* in() const { return content<Linear>(VT_IN); }
  const Linear* out() const { return content<Linear>(VT_OUT); }
  const Norm* norm() const { return content<Norm>(VT_NORM); }
};

struct Recurrent : Table {
  enum : Slot {
    VT_INPUT_FORGET = 4, VT_NORM = 6,
  };
  const Linear* input_forget() const { return content<Linear>(VT_INPUT_FORGET); }
  const Norm* norm() const { return content<Norm>(VT_NORM); }
};

struct Layer : Table {
  enum : Slot {
    VT_SELF_ATTENTION = 4, VT_CROSS_ATTENTION = 6, VT_FEED_FORWARD = 8, VT_RECURRENT = 10,
  };
  const SelfAttention* self_attention() const { return content<SelfAttention>(VT_SELF_ATTENTION); }
  const CrossAttention* cross_attention() const { return content<CrossAttention>(VT_CROSS_ATTENTION); }
  const FeedForward* feed_forward() const { return content<FeedForward>(VT_FEED_FORWARD); }
  const Recurrent* recurrent() const { return content<Recurrent>(VT_RECURRENT); }
};

struct Convolution : Table {
  enum : Slot {
    VT_LINEAR = 4, VT_CHANNELS = 6, VT_KERNEL = 8, VT_STRIDE = 10, VT_PADDING = 12, VT_ACTIVATION = 14,
    VT_WHOLE_NORM = 16,
  };
  const Linear* linear() const { return content<Linear>(VT_LINEAR); }
  uint32_t channels() const { return number<uint32_t>(VT_CHANNELS); }
  uint32_t kernel() const { return number<uint32_t>(VT_KERNEL); }
  uint32_t stride() const { return number<uint32_t>(VT_STRIDE); }
  uint32_t padding() const { return number<uint32_t>(VT_PADDING); }
  Activation activation() const { return static_cast<Activation>(number<uint8_t>(VT_ACTIVATION)); }
  const Norm* whole_norm() const { return content<Norm>(VT_WHOLE_NORM); }
};

struct LogMel : Table {
  enum : Slot {
    VT_N_FFT = 4, VT_HOP = 6, VT_N_MELS = 8, VT_WINDOW = 10, VT_TWIDDLE = 12, VT_FIRST = 14, VT_COUNT = 16,
    VT_WEIGHT = 18,
  };
  uint32_t n_fft() const { return number<uint32_t>(VT_N_FFT); }
  uint32_t hop() const { return number<uint32_t>(VT_HOP); }
  uint32_t n_mels() const { return number<uint32_t>(VT_N_MELS); }
  uint32_t window() const { return number<uint32_t>(VT_WINDOW); }
  uint32_t twiddle() const { return number<uint32_t>(VT_TWIDDLE); }
  uint32_t first() const { return number<uint32_t>(VT_FIRST); }
  uint32_t count() const { return number<uint32_t>(VT_COUNT); }
  uint32_t weight() const { return number<uint32_t>(VT_WEIGHT); }
};

struct Frontend : Table {
  enum : Slot {
    VT_INPUT = 4, VT_SAMPLE_RATE = 6, VT_CHANNELS = 8, VT_FIXED_WINDOW = 10, VT_CONVOLUTIONS = 12, VT_LOG_MEL = 14,
    VT_IMAGE = 16,
  };
  FrontendInput input() const { return static_cast<FrontendInput>(number<uint8_t>(VT_INPUT)); }
  uint32_t sample_rate() const { return number<uint32_t>(VT_SAMPLE_RATE); }
  uint32_t channels() const { return number<uint32_t>(VT_CHANNELS); }
  bool fixed_window() const { return number<uint8_t>(VT_FIXED_WINDOW) != 0; }
  const References<Convolution>* convolutions() const { return content<References<Convolution>>(VT_CONVOLUTIONS); }
  const LogMel* log_mel() const { return content<LogMel>(VT_LOG_MEL); }
  const Vector<uint32_t>* image() const { return content<Vector<uint32_t>>(VT_IMAGE); }
};

struct Rotary : Table {
  enum : Slot {
    VT_TABLE = 4, VT_HALF = 6,
  };
  uint32_t table() const { return number<uint32_t>(VT_TABLE); }
  uint32_t half() const { return number<uint32_t>(VT_HALF); }
};

struct Stack : Table {
  enum : Slot {
    VT_D_MODEL = 4, VT_D_FF = 6, VT_N_HEADS = 8, VT_D_HEAD = 10, VT_ATTENTION_SCALE = 12, VT_ACTIVATION = 14,
    VT_PRE_NORM = 16, VT_EMBEDDING = 18, VT_EMBEDDING_SCALE = 20, VT_POSITIONS = 22, VT_MAX_POSITIONS = 24,
    VT_EMBEDDING_NORM = 26, VT_FINAL_NORM = 28, VT_LAYERS = 30, VT_CENTRED = 32, VT_GATED = 34,
    VT_POSITIONS_USED = 36, VT_ROTARY = 38, VT_FRONTEND = 40, VT_FINE_ATTENTION = 42, VT_INTEGER_ATTENTION = 44,
    VT_HEAD = 46,
  };
  uint32_t d_model() const { return number<uint32_t>(VT_D_MODEL); }
  uint32_t d_ff() const { return number<uint32_t>(VT_D_FF); }
  uint32_t n_heads() const { return number<uint32_t>(VT_N_HEADS); }
  uint32_t d_head() const { return number<uint32_t>(VT_D_HEAD); }
  float attention_scale() const { return number<float>(VT_ATTENTION_SCALE); }
  Activation activation() const { return static_cast<Activation>(number<uint8_t>(VT_ACTIVATION)); }
  bool pre_norm() const { return number<uint8_t>(VT_PRE_NORM) != 0; }
  const Embedding* embedding() const { return content<Embedding>(VT_EMBEDDING); }
  float embedding_scale() const { return number<float>(VT_EMBEDDING_SCALE); }
  uint32_t positions() const { return number<uint32_t>(VT_POSITIONS); }
  uint32_t max_positions() const { return number<uint32_t>(VT_MAX_POSITIONS); }
  const Norm* embedding_norm() const { return content<Norm>(VT_EMBEDDING_NORM); }
  const Norm* final_norm() const { return content<Norm>(VT_FINAL_NORM); }
  const References<Layer>* layers() const { return content<References<Layer>>(VT_LAYERS); }
  bool centred() const { return number<uint8_t>(VT_CENTRED, 1) != 0; }
  bool gated() const { return number<uint8_t>(VT_GATED) != 0; }
  bool positions_used() const { return number<uint8_t>(VT_POSITIONS_USED, 1) != 0; }
  const Rotary* rotary() const { return content<Rotary>(VT_ROTARY); }
  const Frontend* frontend() const { return content<Frontend>(VT_FRONTEND); }
  bool fine_attention() const { return number<uint8_t>(VT_FINE_ATTENTION) != 0; }
  bool integer_attention() const { return number<uint8_t>(VT_INTEGER_ATTENTION) != 0; }
  const Linear* head() const { return content<Linear>(VT_HEAD); }
};

struct Tokenizer : Table {
  enum : Slot {
    VT_KIND = 4, VT_VOCAB_SIZE = 6, VT_N_PIECES = 8, VT_TRIE = 10, VT_TRIE_UNITS = 12, VT_SCORE = 14, VT_TYPE = 16,
    VT_BYTE_IDS = 18, VT_NORMALIZER_TRIE = 20, VT_NORMALIZER_TRIE_UNITS = 22, VT_NORMALIZER_TEXT = 24,
    VT_NORMALIZER_TEXT_BYTES = 26, VT_UNKNOWN_ID = 28, VT_UNKNOWN_SCORE = 30, VT_MAX_SCORE = 32,
    VT_MAX_PIECE_BYTES = 34, VT_BYTE_FALLBACK = 36, VT_ADD_DUMMY_PREFIX = 38, VT_REMOVE_EXTRA_WHITESPACE = 40,
    VT_ESCAPE_WHITESPACE = 42, VT_WHITESPACE_AS_SUFFIX = 44, VT_LANGUAGE_CODES = 46, VT_HAS_USER_DEFINED = 48,
    VT_ADDED = 50,
  };
  TokenizerKind kind() const { return static_cast<TokenizerKind>(number<uint8_t>(VT_KIND)); }
  uint32_t vocab_size() const { return number<uint32_t>(VT_VOCAB_SIZE); }
  uint32_t n_pieces() const { return number<uint32_t>(VT_N_PIECES); }
  uint32_t trie() const { return number<uint32_t>(VT_TRIE); }
  uint32_t trie_units() const { return number<uint32_t>(VT_TRIE_UNITS); }
  uint32_t score() const { return number<uint32_t>(VT_SCORE); }
  uint32_t type() const { return number<uint32_t>(VT_TYPE); }
  uint32_t byte_ids() const { return number<uint32_t>(VT_BYTE_IDS); }
  uint32_t normalizer_trie() const { return number<uint32_t>(VT_NORMALIZER_TRIE); }
  uint32_t normalizer_trie_units() const { return number<uint32_t>(VT_NORMALIZER_TRIE_UNITS); }
  uint32_t normalizer_text() const { return number<uint32_t>(VT_NORMALIZER_TEXT); }
  uint32_t normalizer_text_bytes() const { return number<uint32_t>(VT_NORMALIZER_TEXT_BYTES); }
  uint32_t unknown_id() const { return number<uint32_t>(VT_UNKNOWN_ID); }
  float unknown_score() const { return number<float>(VT_UNKNOWN_SCORE); }
  float max_score() const { return number<float>(VT_MAX_SCORE); }
  uint32_t max_piece_bytes() const { return number<uint32_t>(VT_MAX_PIECE_BYTES); }
  bool byte_fallback() const { return number<uint8_t>(VT_BYTE_FALLBACK) != 0; }
  bool add_dummy_prefix() const { return number<uint8_t>(VT_ADD_DUMMY_PREFIX) != 0; }
  bool remove_extra_whitespace() const { return number<uint8_t>(VT_REMOVE_EXTRA_WHITESPACE) != 0; }
  bool escape_whitespace() const { return number<uint8_t>(VT_ESCAPE_WHITESPACE) != 0; }
  bool whitespace_as_suffix() const { return number<uint8_t>(VT_WHITESPACE_AS_SUFFIX) != 0; }
  bool language_codes() const { return number<uint8_t>(VT_LANGUAGE_CODES) != 0; }
  bool has_user_defined() const { return number<uint8_t>(VT_HAS_USER_DEFINED) != 0; }
  const Vector<uint32_t>* added() const { return content<Vector<uint32_t>>(VT_ADDED); }
};

struct Detokenizer : Table {
  enum : Slot {
    VT_KIND = 4, VT_N_PIECES = 6, VT_TEXT_OFFSET = 8, VT_TEXT = 10, VT_TEXT_BYTES = 12, VT_TYPE = 14,
    VT_ADD_DUMMY_PREFIX = 16, VT_REMOVE_EXTRA_WHITESPACE = 18,
  };
  TokenizerKind kind() const { return static_cast<TokenizerKind>(number<uint8_t>(VT_KIND)); }
  uint32_t n_pieces() const { return number<uint32_t>(VT_N_PIECES); }
  uint32_t text_offset() const { return number<uint32_t>(VT_TEXT_OFFSET); }
  uint32_t text() const { return number<uint32_t>(VT_TEXT); }
  uint32_t text_bytes() const { return number<uint32_t>(VT_TEXT_BYTES); }
  uint32_t type() const { return number<uint32_t>(VT_TYPE); }
  bool add_dummy_prefix() const { return number<uint8_t>(VT_ADD_DUMMY_PREFIX) != 0; }
  bool remove_extra_whitespace() const { return number<uint8_t>(VT_REMOVE_EXTRA_WHITESPACE) != 0; }
};

struct Shortlist : Table {
  enum : Slot {
    VT_ALWAYS = 4, VT_N_ALWAYS = 6, VT_OFFSET = 8, VT_IDS = 10, VT_N_IDS = 12, VT_NGRAM_KEYS = 14, VT_N_NGRAMS = 16,
    VT_MAX_NGRAM = 18,
  };
  uint32_t always() const { return number<uint32_t>(VT_ALWAYS); }
  uint32_t n_always() const { return number<uint32_t>(VT_N_ALWAYS); }
  uint32_t offset() const { return number<uint32_t>(VT_OFFSET); }
  uint32_t ids() const { return number<uint32_t>(VT_IDS); }
  uint32_t n_ids() const { return number<uint32_t>(VT_N_IDS); }
  uint32_t ngram_keys() const { return number<uint32_t>(VT_NGRAM_KEYS); }
  uint32_t n_ngrams() const { return number<uint32_t>(VT_N_NGRAMS); }
  uint32_t max_ngram() const { return number<uint32_t>(VT_MAX_NGRAM); }
};

struct Generation : Table {
  enum : Slot {
    VT_DECODER_START_ID = 4, VT_END_ID = 6, VT_PAD_ID = 8, VT_UNKNOWN_ID = 10, VT_FORCED_FIRST_ID = 12,
    VT_SUPPRESSED_IDS = 14, VT_SOURCE_PREFIX = 16, VT_SOURCE_SUFFIX = 18, VT_BEAM_SIZE = 20,
    VT_MIN_TARGET_TOKENS = 22, VT_MAX_TARGET_TOKENS = 24, VT_LENGTH_PENALTY = 26, VT_WORD_PENALTY = 28,
    VT_RENORMALIZE = 30, VT_EARLY_STOPPING = 32, VT_MORE_END_IDS = 34, VT_NO_REPEAT_NGRAM = 36,
    VT_REPETITION_PENALTY = 38, VT_FORCE_END = 40, VT_LENGTH_PENALTY_KIND = 42, VT_MAX_EXTRA_TOKENS = 44,
    VT_BIASED_IDS = 46, VT_BIASES = 48, VT_MAX_LENGTH_FACTOR = 50, VT_FIRST_CHOICES = 52, VT_FORCED_IDS = 54,
    VT_FIRST_SUPPRESSED_IDS = 56, VT_SEQUENCES = 58, VT_SEQUENCE_BIASES = 60, VT_NO_REPEAT_SOURCE_NGRAM = 62,
    VT_UNKNOWN_HEADS = 64, VT_UNKNOWN_LAYER = 66, VT_ALIGNMENT_HEADS = 68, VT_FIRST_TIMESTAMP = 70,
    VT_MAX_FIRST_TIMESTAMP = 72,
  };
  uint32_t decoder_start_id() const { return number<uint32_t>(VT_DECODER_START_ID); }
  uint32_t end_id() const { return number<uint32_t>(VT_END_ID); }
  int32_t pad_id() const { return number<int32_t>(VT_PAD_ID, -1); }
  int32_t unknown_id() const { return number<int32_t>(VT_UNKNOWN_ID, -1); }
  int32_t forced_first_id() const { return number<int32_t>(VT_FORCED_FIRST_ID, -1); }
  const Vector<uint32_t>* suppressed_ids() const { return content<Vector<uint32_t>>(VT_SUPPRESSED_IDS); }
  const Vector<uint32_t>* source_prefix() const { return content<Vector<uint32_t>>(VT_SOURCE_PREFIX); }
  const Vector<uint32_t>* source_suffix() const { return content<Vector<uint32_t>>(VT_SOURCE_SUFFIX); }
  uint32_t beam_size() const { return number<uint32_t>(VT_BEAM_SIZE, 1); }
  uint32_t min_target_tokens() const { return number<uint32_t>(VT_MIN_TARGET_TOKENS); }
  uint32_t max_target_tokens() const { return number<uint32_t>(VT_MAX_TARGET_TOKENS); }
  float length_penalty() const { return number<float>(VT_LENGTH_PENALTY, 1.0); }
  float word_penalty() const { return number<float>(VT_WORD_PENALTY); }
  bool renormalize() const { return number<uint8_t>(VT_RENORMALIZE) != 0; }
  uint8_t early_stopping() const { return number<uint8_t>(VT_EARLY_STOPPING); }
  const Vector<uint32_t>* more_end_ids() const { return content<Vector<uint32_t>>(VT_MORE_END_IDS); }
  uint32_t no_repeat_ngram() const { return number<uint32_t>(VT_NO_REPEAT_NGRAM); }
  float repetition_penalty() const { return number<float>(VT_REPETITION_PENALTY, 1.0); }
  bool force_end() const { return number<uint8_t>(VT_FORCE_END, 1) != 0; }
  uint8_t length_penalty_kind() const { return number<uint8_t>(VT_LENGTH_PENALTY_KIND); }
  uint32_t max_extra_tokens() const { return number<uint32_t>(VT_MAX_EXTRA_TOKENS); }
  const Vector<uint32_t>* biased_ids() const { return content<Vector<uint32_t>>(VT_BIASED_IDS); }
  const Vector<float>* biases() const { return content<Vector<float>>(VT_BIASES); }
  float max_length_factor() const { return number<float>(VT_MAX_LENGTH_FACTOR); }
  const Vector<uint32_t>* first_choices() const { return content<Vector<uint32_t>>(VT_FIRST_CHOICES); }
  const Vector<uint32_t>* forced_ids() const { return content<Vector<uint32_t>>(VT_FORCED_IDS); }
  const Vector<uint32_t>* first_suppressed_ids() const { return content<Vector<uint32_t>>(VT_FIRST_SUPPRESSED_IDS); }
  const Vector<uint32_t>* sequences() const { return content<Vector<uint32_t>>(VT_SEQUENCES); }
  const Vector<float>* sequence_biases() const { return content<Vector<float>>(VT_SEQUENCE_BIASES); }
  uint32_t no_repeat_source_ngram() const { return number<uint32_t>(VT_NO_REPEAT_SOURCE_NGRAM); }
  uint32_t unknown_heads() const { return number<uint32_t>(VT_UNKNOWN_HEADS); }
  uint32_t unknown_layer() const { return number<uint32_t>(VT_UNKNOWN_LAYER); }
  const Vector<uint32_t>* alignment_heads() const { return content<Vector<uint32_t>>(VT_ALIGNMENT_HEADS); }
  uint32_t first_timestamp() const { return number<uint32_t>(VT_FIRST_TIMESTAMP); }
  uint32_t max_first_timestamp() const { return number<uint32_t>(VT_MAX_FIRST_TIMESTAMP); }
};

struct Limits : Table {
  enum : Slot {
    VT_MAX_SOURCE_TOKENS = 4, VT_MAX_SOURCE_BYTES = 6, VT_MAX_TARGET_TOKENS = 8, VT_BEAM_SIZE = 10, VT_BATCH = 12,
    VT_N_BEST = 14, VT_ENCODER_ROWS = 16, VT_MAX_CANDIDATES = 18, VT_MAX_PREFIX_TOKENS = 20,
  };
  uint32_t max_source_tokens() const { return number<uint32_t>(VT_MAX_SOURCE_TOKENS); }
  uint32_t max_source_bytes() const { return number<uint32_t>(VT_MAX_SOURCE_BYTES); }
  uint32_t max_target_tokens() const { return number<uint32_t>(VT_MAX_TARGET_TOKENS); }
  uint32_t beam_size() const { return number<uint32_t>(VT_BEAM_SIZE); }
  uint32_t batch() const { return number<uint32_t>(VT_BATCH); }
  uint32_t n_best() const { return number<uint32_t>(VT_N_BEST); }
  uint32_t encoder_rows() const { return number<uint32_t>(VT_ENCODER_ROWS); }
  uint32_t max_candidates() const { return number<uint32_t>(VT_MAX_CANDIDATES); }
  uint32_t max_prefix_tokens() const { return number<uint32_t>(VT_MAX_PREFIX_TOKENS); }
};

struct SelfTestLine : Table {
  enum : Slot {
    VT_SOURCE = 4, VT_TARGET = 6, VT_HASH_LOW = 8, VT_HASH_HIGH = 10, VT_SHORTLIST = 12, VT_SAMPLES = 14,
    VT_N_FORCED = 16,
  };
  const Vector<uint32_t>* source() const { return content<Vector<uint32_t>>(VT_SOURCE); }
  const Vector<uint32_t>* target() const { return content<Vector<uint32_t>>(VT_TARGET); }
  uint32_t hash_low() const { return number<uint32_t>(VT_HASH_LOW); }
  uint32_t hash_high() const { return number<uint32_t>(VT_HASH_HIGH); }
  bool shortlist() const { return number<uint8_t>(VT_SHORTLIST) != 0; }
  const Vector<int16_t>* samples() const { return content<Vector<int16_t>>(VT_SAMPLES); }
  uint8_t n_forced() const { return number<uint8_t>(VT_N_FORCED); }
};

struct Languages : Table {
  enum : Slot {
    VT_CODE = 4, VT_SOURCE = 6, VT_TARGET = 8, VT_SOURCE_PLACE = 10, VT_TARGET_PLACE = 12, VT_DEFAULT_SOURCE = 14,
    VT_DEFAULT_TARGET = 16,
  };
  const References<String>* code() const { return content<References<String>>(VT_CODE); }
  const Vector<uint32_t>* source() const { return content<Vector<uint32_t>>(VT_SOURCE); }
  const Vector<uint32_t>* target() const { return content<Vector<uint32_t>>(VT_TARGET); }
  uint8_t source_place() const { return number<uint8_t>(VT_SOURCE_PLACE); }
  uint8_t target_place() const { return number<uint8_t>(VT_TARGET_PLACE); }
  int32_t default_source() const { return number<int32_t>(VT_DEFAULT_SOURCE, -1); }
  int32_t default_target() const { return number<int32_t>(VT_DEFAULT_TARGET, -1); }
};

struct Provenance : Table {
  enum : Slot {
    VT_NAME = 4, VT_SOURCE_LANGUAGE = 6, VT_TARGET_LANGUAGE = 8, VT_LICENSE = 10, VT_ATTRIBUTION = 12,
    VT_CHECKPOINT_SHA256 = 14, VT_DIALECT = 16, VT_CONVERTER_VERSION = 18,
  };
  const String* name() const { return content<String>(VT_NAME); }
  const String* source_language() const { return content<String>(VT_SOURCE_LANGUAGE); }
  const String* target_language() const { return content<String>(VT_TARGET_LANGUAGE); }
  const String* license() const { return content<String>(VT_LICENSE); }
  const String* attribution() const { return content<String>(VT_ATTRIBUTION); }
  const String* checkpoint_sha256() const { return content<String>(VT_CHECKPOINT_SHA256); }
  const String* dialect() const { return content<String>(VT_DIALECT); }
  const String* converter_version() const { return content<String>(VT_CONVERTER_VERSION); }
};

struct Model : Table {
  enum : Slot {
    VT_FORMAT_VERSION = 4, VT_FEATURES = 6, VT_SECTIONS = 8, VT_ENCODER = 10, VT_DECODER = 12, VT_PROJECTION = 14,
    VT_GENERATION = 16, VT_LIMITS = 18, VT_TOKENIZER = 20, VT_DETOKENIZER = 22, VT_SELF_TEST = 24,
    VT_PROVENANCE = 26, VT_WEIGHTS_HASH_LOW = 28, VT_WEIGHTS_HASH_HIGH = 30, VT_SHORTLIST = 32, VT_LANGUAGES = 34,
    VT_LEXICON = 36, VT_VOICE = 38,
  };
  uint32_t format_version() const { return number<uint32_t>(VT_FORMAT_VERSION); }
  uint32_t features() const { return number<uint32_t>(VT_FEATURES); }
  const References<Section>* sections() const { return content<References<Section>>(VT_SECTIONS); }
  const Stack* encoder() const { return content<Stack>(VT_ENCODER); }
  const Stack* decoder() const { return content<Stack>(VT_DECODER); }
  const Linear* projection() const { return content<Linear>(VT_PROJECTION); }
  const Generation* generation() const { return content<Generation>(VT_GENERATION); }
  const Limits* limits() const { return content<Limits>(VT_LIMITS); }
  const Tokenizer* tokenizer() const { return content<Tokenizer>(VT_TOKENIZER); }
  const Detokenizer* detokenizer() const { return content<Detokenizer>(VT_DETOKENIZER); }
  const References<SelfTestLine>* self_test() const { return content<References<SelfTestLine>>(VT_SELF_TEST); }
  const Provenance* provenance() const { return content<Provenance>(VT_PROVENANCE); }
  uint32_t weights_hash_low() const { return number<uint32_t>(VT_WEIGHTS_HASH_LOW); }
  uint32_t weights_hash_high() const { return number<uint32_t>(VT_WEIGHTS_HASH_HIGH); }
  const Shortlist* shortlist() const { return content<Shortlist>(VT_SHORTLIST); }
  const Languages* languages() const { return content<Languages>(VT_LANGUAGES); }
  const Vector<uint32_t>* lexicon() const { return content<Vector<uint32_t>>(VT_LEXICON); }
  uint32_t voice() const { return number<uint32_t>(VT_VOICE); }
};

inline const Model* GetModel(const void* file) {
  const auto* const start = static_cast<const uint8_t*>(file);
  return reinterpret_cast<const Model*>(start + read<uint32_t>(start));
}

// The kind of each field of each table.
constexpr uint8_t kFieldKinds[] = {
    // Section
    0, 2, 3, 2,
    // Linear
    2, 2, 0, 2, 2, 2, 2, 0, 0, 0,
    // Embedding
    2, 2, 0, 2, 2, 0, 0,
    // Norm
    2, 2, 2,
    // AttentionBias
    2, 2, 2,
    // SelfAttention
    9, 9, 11, 12,
    // CrossAttention
    9, 9, 9, 11,
    // FeedForward
    9, 9, 11,
    // Recurrent
    9, 11,
    // Layer
    13, 14, 15, 16,
    // Convolution
    9, 2, 2, 2, 2, 0, 11,
    // LogMel
    2, 2, 2, 2, 2, 2, 2, 2,
    // Frontend
    0, 2, 2, 0, 146, 19, 130,
    // Rotary
    2, 2,
    // Stack
    2, 2, 2, 2, 2, 0, 0, 10, 2, 2, 2, 11, 11, 145, 0, 0, 0, 21, 20, 0, 0, 9,
    // Tokenizer
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 130,
    // Detokenizer
    0, 2, 2, 2, 2, 2, 0, 0,
    // Shortlist
    2, 2, 2, 2, 2, 2, 2, 2,
    // Generation
    2, 2, 2, 2, 2, 130, 130, 130, 2, 2, 2, 2, 2, 0, 0, 130, 2, 2, 0, 0, 2, 130, 130, 2, 130, 130, 130, 130, 130, 2,
    2, 2, 130, 2, 2,
    // Limits
    2, 2, 2, 2, 2, 2, 2, 2, 2,
    // SelfTestLine
    130, 130, 2, 2, 0, 129, 0,
    // Languages
    132, 130, 130, 0, 0, 2, 2,
    // Provenance
    4, 4, 4, 4, 4, 4, 4, 4,
    // Model
    2, 2, 136, 22, 22, 9, 26, 27, 23, 24, 156, 30, 2, 2, 25, 29, 130, 2,
};

// The fields that a file may have only with one of a set of features, ascending, each with its set and its default.
constexpr FeatureField kFeatureFields[] = {
    {11, 0, 0}, {12, 1, 0}, {13, 2, 0}, {19, 1, 0}, {20, 2, 0}, {30, 3, 0}, {43, 4, 0}, {64, 5, 0}, {65, 6, 0},
    {82, 7, 1}, {83, 8, 0}, {84, 9, 1}, {85, 10, 0}, {86, 11, 0}, {87, 12, 0}, {88, 13, 0}, {89, 6, 0},
    {113, 14, 0}, {143, 15, 0}, {144, 15, 0}, {145, 15, 0}, {146, 15, 0}, {147, 15, 2}, {148, 15, 1}, {149, 15, 0},
    {150, 15, 0}, {151, 15, 0}, {152, 15, 0}, {153, 16, 0}, {154, 17, 0}, {155, 17, 0}, {156, 17, 0}, {157, 18, 0},
    {158, 18, 0}, {159, 18, 0}, {163, 19, 0}, {164, 19, 0}, {172, 20, 0}, {173, 17, 0}, {178, 20, 0}, {179, 11, 0},
    {180, 21, 0}, {210, 22, 0}, {211, 21, 0}, {212, 23, 0}, {213, 24, 0},
};
constexpr uint32_t bit(Feature feature) { return static_cast<uint32_t>(feature); }
constexpr uint32_t kFeatureSets[] = {
    bit(Feature::Refined),
    bit(Feature::RefinedWeights),
    bit(Feature::Packed),
    bit(Feature::AttentionBias),
    bit(Feature::Recurrent),
    bit(Feature::LogMel),
    bit(Feature::Image),
    bit(Feature::RmsNorm),
    bit(Feature::Gated),
    bit(Feature::AttentionBias) | bit(Feature::Rotary) | bit(Feature::Frontend),
    bit(Feature::Rotary),
    bit(Feature::Frontend),
    bit(Feature::FineAttention),
    bit(Feature::IntegerAttention),
    bit(Feature::AddedTokens),
    bit(Feature::Rules),
    bit(Feature::Rules) | bit(Feature::Frontend),
    bit(Feature::Prompt),
    bit(Feature::Sequences),
    bit(Feature::Timestamps),
    bit(Feature::Shortlist) | bit(Feature::Lexicon),
    bit(Feature::Languages),
    bit(Feature::Shortlist),
    bit(Feature::Lexicon),
    bit(Feature::Voice),
};

// In the order above.
constexpr TableFields kTables[] = {
    {0, 4}, {4, 10}, {14, 7}, {21, 3}, {24, 3}, {27, 4}, {31, 4}, {35, 3}, {38, 2}, {40, 4}, {44, 7}, {51, 8},
    {59, 7}, {66, 2}, {68, 22}, {90, 24}, {114, 8}, {122, 8}, {130, 35}, {165, 9}, {174, 7}, {181, 7}, {188, 8},
    {196, 18},
};
constexpr uint32_t kRootTable = 23;
}  // namespace reader
}  // namespace goldcrest::format
