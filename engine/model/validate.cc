// SPDX-License-Identifier: Apache-2.0
#include "model/validate.h"

#include <cstring>

#include "base/build_options.h"
#include "base/status.h"
#include "model/float_bounds.h"
#include "model/structure.h"
#include "model_generated.h"

namespace goldcrest {

namespace {

#define REQUIRE_INTACT(condition, message, index) \
  GOLDCREST_REQUIRE(condition, GOLDCREST_ERROR_MODEL_CORRUPT, message, index)

// FORMAT.md, "Trailer".
struct Trailer {
  char magic[8];
  uint32_t format_version;
  uint32_t metadata_bytes;
  uint64_t total_bytes;
  uint32_t metadata_crc32c;
  uint8_t reserved[32];
  uint32_t trailer_crc32c;
};
static_assert(sizeof(Trailer) == 64, "the trailer is 64 bytes");

// Bounds on dimensions: far beyond any real model, and small enough that no product below overflows 64 bits and no
// int32 accumulator of a kernel overflows.
constexpr uint32_t kMaxWidth = 65536;
constexpr uint32_t kMaxVocabulary = 1u << 24;
constexpr uint32_t kMaxLayers = 256;
constexpr uint32_t kMaxHeads = 256;
constexpr uint32_t kMaxHeadWidth = 1024;
constexpr uint32_t kMaxPositions = 1u << 20;
constexpr uint32_t kMaxBeams = 16;
constexpr uint32_t kMaxBatch = 256;
constexpr uint32_t kMaxSourceBytes = 1u << 24;

constexpr uint32_t kPieceBytes = 1u << 16;  // of weights: checksum and values are read while they are cached

bool in_range(float x, float low, float high) { return x >= low && x <= high; }

struct SectionView {
  const uint8_t* start;
  uint64_t size;
  bool holds(uint32_t units, uint64_t bytes) const {
    return units * kAlignment <= size && bytes <= size - units * kAlignment;
  }
  template <typename T>
  const T* at(uint32_t units) const {
    return reinterpret_cast<const T*>(start + units * kAlignment);
  }
};

// Its functions run once and are cold: compiled for size, whatever the rest is compiled for.
class Validator {
 public:
  Validator(const uint8_t* file, uint64_t file_bytes, const VerifyFunctions& functions, goldcrest_detail* where)
      : file_(file), file_bytes_(file_bytes), functions_(functions), detail(where) {}

  [[gnu::cold]] int run();

 private:
  [[gnu::cold]] int check_frame();
  [[gnu::cold]] int check_sections();
  [[gnu::cold]] bool is_padding(uint64_t begin, uint64_t end) const;
  [[gnu::cold]] void checksum_weights_to(uint64_t end);
  [[gnu::cold]] int check_weights_checksum();
  [[gnu::cold]] int check_float_weights(uint32_t units, uint32_t n, uint32_t k, const char* name, int32_t index);
  [[gnu::cold]] int check_weights(uint32_t units, const int32_t* weight_sum, uint32_t n, uint32_t k,
                                  format::Layout layout, const char* name, int32_t index);
  [[gnu::cold]] int check_linear(const format::Linear* table, uint32_t n, uint32_t k, const char* name, int32_t index);
  [[gnu::cold]] int check_norm(const format::Norm* table, bool needed, uint32_t d_model, const char* name,
                               int32_t index);
  [[gnu::cold]] int check_embedding(const format::Embedding* table, uint32_t d_model, const char* name);
  [[gnu::cold]] int check_self_attention(const format::SelfAttention* table, const format::Stack& stack, int32_t index);
  [[gnu::cold]] int check_cross_attention(const format::CrossAttention* table, const format::Stack& stack,
                                          int32_t index);
  [[gnu::cold]] int check_feed_forward(const format::FeedForward* table, const format::Stack& stack, int32_t index);
  [[gnu::cold]] int check_stack(const format::Stack* stack, bool is_decoder, const char* name);
  [[gnu::cold]] int check_layers(const format::Stack& stack, bool is_decoder);
  [[gnu::cold]] int check_generation();
  [[gnu::cold]] int check_limits();
  [[gnu::cold]] int check_ids(const flatbuffers::Vector<uint32_t>* ids, uint32_t vocab_size, const char* name,
                              int32_t index);
  [[gnu::cold]] int check_tokenizer();
  [[gnu::cold]] int check_detokenizer();
  [[gnu::cold]] int check_self_tests();

  const uint8_t* file_;
  uint64_t file_bytes_;
  const VerifyFunctions& functions_;
  goldcrest_detail* detail;  // named for GOLDCREST_REQUIRE
  Trailer trailer_ = {};
  const format::Model* model_ = nullptr;
  bool is_float32() const { return kHasFloat32 && model_->features() != 0; }  // after check_frame
  // Of arrays in the parameters and positions, which lie in the file by then.
  bool values_good(const SectionView& arrays, uint32_t units, uint64_t n) const {
    return functions_.metadata_only || values_in_range(arrays.at<float>(units), n);
  }
  bool scales_good(uint32_t units, uint64_t n) const {
    return functions_.metadata_only || scales_in_range(section(format::SectionKind::Parameters).at<float>(units), n);
  }
  bool padding_good(uint32_t units, uint32_t n, uint32_t expected_bits) const {
    return functions_.metadata_only ||
           padding_is(section(format::SectionKind::Parameters).at<float>(units), n, expected_bits);
  }
  const SectionView& section(format::SectionKind kind) const { return sections_[static_cast<int>(kind)]; }
  SectionView sections_[4] = {};    // by kind
  uint64_t checksummed_bytes_ = 0;  // of the weights
  uint32_t weights_crc_ = 0;        // of these bytes
  uint32_t source_vocab_size_ = 0, target_vocab_size_ = 0;
};

int Validator::check_frame() {
  GOLDCREST_REQUIRE(file_ != nullptr && is_aligned(file_), GOLDCREST_ERROR_ARGUMENT,
                    "model: the pointer must be aligned to 64 bytes", -1);
  REQUIRE_INTACT(file_bytes_ >= 2 * sizeof(Trailer), "file: too short to be a model", -1);
  memcpy(&trailer_, file_ + file_bytes_ - sizeof(Trailer), sizeof(Trailer));
  REQUIRE_INTACT(memcmp(trailer_.magic, "GCSTEND\n", 8) == 0, "trailer: not found at the end of the file", -1);
  REQUIRE_INTACT(functions_.crc32c(0, &trailer_, sizeof(Trailer) - 4) == trailer_.trailer_crc32c, "trailer: checksum",
                 -1);
  GOLDCREST_REQUIRE(trailer_.format_version >= 1 && trailer_.format_version <= GOLDCREST_FORMAT_VERSION,
                    GOLDCREST_ERROR_MODEL_VERSION, "trailer: format version unknown to this engine",
                    static_cast<int32_t>(trailer_.format_version));
  REQUIRE_INTACT(trailer_.total_bytes == file_bytes_, "trailer: file size", -1);
  for (uint8_t byte : trailer_.reserved) REQUIRE_INTACT(byte == 0, "trailer: reserved bytes", -1);
  REQUIRE_INTACT(trailer_.metadata_bytes >= 16 && trailer_.metadata_bytes <= file_bytes_ - sizeof(Trailer) &&
                     trailer_.metadata_bytes < FLATBUFFERS_MAX_BUFFER_SIZE,
                 "trailer: metadata size", -1);
  REQUIRE_INTACT(functions_.crc32c(0, file_, trailer_.metadata_bytes) == trailer_.metadata_crc32c, "metadata: checksum",
                 -1);
  REQUIRE_INTACT(memcmp(file_ + 4, "GCST", 4) == 0, "metadata: identifier", -1);

  REQUIRE_INTACT(metadata_is_sound(file_, trailer_.metadata_bytes), "metadata: structure", -1);
  model_ = format::GetModel(file_);
  REQUIRE_INTACT(model_->format_version() == trailer_.format_version, "metadata: format version", -1);
  const bool float32 = model_->features() == static_cast<uint32_t>(format::Feature::Float32);
  GOLDCREST_REQUIRE(
      !float32 || functions_.float32, GOLDCREST_ERROR_UNSUPPORTED,
      "metadata: float32 weights, which this build cannot run; convert the model without --weights float32", -1);
  GOLDCREST_REQUIRE(float32 || model_->features() == 0, GOLDCREST_ERROR_UNSUPPORTED, "metadata: feature bits",
                    static_cast<int32_t>(model_->features()));
  return GOLDCREST_OK;
}

int Validator::check_sections() {
  REQUIRE_INTACT(model_->sections() != nullptr && model_->sections()->size() == 4, "sections: four are needed", -1);
  uint64_t previous_end = trailer_.metadata_bytes;
  for (uint32_t i = 0; i < 4; ++i) {
    const format::Section* table = model_->sections()->Get(i);
    const int32_t index = static_cast<int32_t>(i);
    const int kind = static_cast<int>(table->kind());
    REQUIRE_INTACT(kind == index, "sections: kind", index);
    const uint64_t start = table->offset() * kAlignment, end = file_bytes_ - sizeof(Trailer);
    REQUIRE_INTACT(start == align_bytes(previous_end) && start <= end && table->size() <= end - start,
                   "sections: extent", index);
    REQUIRE_INTACT(is_padding(previous_end, start), "sections: padding before", index);
    previous_end = start + table->size();
    sections_[kind] = {file_ + start, table->size()};
    if (functions_.metadata_only || table->kind() == format::SectionKind::Weights) continue;  // with the values
    REQUIRE_INTACT(functions_.crc32c(0, file_ + start, static_cast<size_t>(table->size())) == table->crc32c(),
                   "sections: checksum", index);
  }
  REQUIRE_INTACT(align_bytes(previous_end) == file_bytes_ - sizeof(Trailer) &&
                     is_padding(previous_end, file_bytes_ - sizeof(Trailer)),
                 "sections: padding before the trailer", -1);
  return GOLDCREST_OK;
}

// Every byte of the file is under a checksum or known to be zero.
bool Validator::is_padding(uint64_t begin, uint64_t end) const {
  if (functions_.metadata_only) return true;
  while (begin < end && file_[begin] == 0) ++begin;
  return begin == end;
}

void Validator::checksum_weights_to(uint64_t end) {
  if (end <= checksummed_bytes_) return;
  weights_crc_ = functions_.crc32c(weights_crc_, section(format::SectionKind::Weights).start + checksummed_bytes_,
                                   static_cast<size_t>(end - checksummed_bytes_));
  checksummed_bytes_ = end;
}

int Validator::check_weights_checksum() {
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  checksum_weights_to(section(format::SectionKind::Weights).size);
  REQUIRE_INTACT(weights_crc_ == model_->sections()->Get(0)->crc32c(), "sections: checksum", 0);
  return GOLDCREST_OK;
}

// The same as check_weights, of float32 files: weights are bounded like all floats.
int Validator::check_float_weights(uint32_t units, uint32_t n, uint32_t k, const char* name, int32_t index) {
  const SectionView& weights = section(format::SectionKind::Weights);
  REQUIRE_INTACT(weights.holds(units, uint64_t{n} * k * sizeof(float)), name, index);
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  const uint64_t piece = kPieceBytes / sizeof(float), end = uint64_t{n} * k;
  for (uint64_t first = 0; first < end; first += piece) {
    const uint64_t count = end - first < piece ? end - first : piece;
    if (!values_in_range(weights.at<float>(units) + first, count)) {
      GOLDCREST_TRY(check_weights_checksum());  // damage has the first word
      return fail(detail, GOLDCREST_ERROR_MODEL_CORRUPT, name, index);
    }
    checksum_weights_to(units * kAlignment + (first + count) * sizeof(float));
  }
  return GOLDCREST_OK;
}

// The values of an [n, k] matrix, and the checksum up to its end. Both dimensions are padded. Matrices come mostly in
// the file's order; whatever the order, each byte goes into the checksum once.
int Validator::check_weights(uint32_t units, const int32_t* weight_sum, uint32_t n, uint32_t k, format::Layout layout,
                             const char* name, int32_t index) {
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  const int8_t* w = section(format::SectionKind::Weights).at<int8_t>(units);
  const uint32_t piece = k < kPieceBytes / 16 ? kPieceBytes / k / 16 * 16 : 16;
  for (uint32_t row = 0; row < n; row += piece) {
    const uint32_t rows = n - row < piece ? n - row : piece;
    if (!functions_.weights_valid(w + uint64_t{row} * k, weight_sum != nullptr ? weight_sum + row : nullptr, rows, k,
                                  static_cast<Layout>(layout))) {
      GOLDCREST_TRY(check_weights_checksum());  // damage has the first word
      return fail(detail, GOLDCREST_ERROR_MODEL_CORRUPT, name, index);
    }
    checksum_weights_to(units * kAlignment + uint64_t{row + rows} * k);
  }
  return GOLDCREST_OK;
}

int Validator::check_linear(const format::Linear* table, uint32_t n, uint32_t k, const char* name, int32_t index) {
  REQUIRE_INTACT(table != nullptr, name, index);
  REQUIRE_INTACT(table->n() == n && table->k() == k, name, index);
  const uint64_t n_padded = pad16(n), k_padded = pad16(k);
  const SectionView& weights = section(format::SectionKind::Weights);
  const SectionView& parameters = section(format::SectionKind::Parameters);
  REQUIRE_INTACT(parameters.holds(table->bias(), 4 * n_padded), name, index);
  REQUIRE_INTACT(values_good(parameters, table->bias(), n_padded) && padding_good(table->bias(), n, 0), name, index);
  if (is_float32()) {
    REQUIRE_INTACT(table->layout() == format::Layout::RowMajor && table->scale() == 0 && table->weight_sum() == 0, name,
                   index);
    return check_float_weights(table->weights(), static_cast<uint32_t>(n_padded), static_cast<uint32_t>(k_padded), name,
                               index);
  }
  REQUIRE_INTACT(table->layout() == format::Layout::N16K4 || table->layout() == format::Layout::N4K16, name, index);
  REQUIRE_INTACT(weights.holds(table->weights(), n_padded * k_padded), name, index);
  REQUIRE_INTACT(parameters.holds(table->scale(), 4 * n_padded) && parameters.holds(table->weight_sum(), 4 * n_padded),
                 name, index);
  REQUIRE_INTACT(scales_good(table->scale(), n_padded) && padding_good(table->scale(), n, kBitsOne), name, index);
  return check_weights(table->weights(), parameters.at<int32_t>(table->weight_sum()), static_cast<uint32_t>(n_padded),
                       static_cast<uint32_t>(k_padded), table->layout(), name, index);
}

int Validator::check_norm(const format::Norm* table, bool needed, uint32_t d_model, const char* name, int32_t index) {
  if (table == nullptr && !needed) return GOLDCREST_OK;
  REQUIRE_INTACT(table != nullptr, name, index);
  const SectionView& parameters = section(format::SectionKind::Parameters);
  const uint32_t padded = pad16(d_model);
  REQUIRE_INTACT(parameters.holds(table->gamma(), 4ull * padded) && parameters.holds(table->beta(), 4ull * padded),
                 name, index);
  REQUIRE_INTACT(values_good(parameters, table->gamma(), padded) && values_good(parameters, table->beta(), padded) &&
                     padding_good(table->gamma(), d_model, 0) && padding_good(table->beta(), d_model, 0),
                 name, index);
  REQUIRE_INTACT(in_range(table->epsilon(), 1e-12f, 1.0f), name, index);
  return GOLDCREST_OK;
}

int Validator::check_embedding(const format::Embedding* table, uint32_t d_model, const char* name) {
  REQUIRE_INTACT(table != nullptr, name, -1);
  REQUIRE_INTACT(table->vocab_size() >= 1 && table->vocab_size() <= kMaxVocabulary && table->d_model() == d_model, name,
                 -1);
  REQUIRE_INTACT(table->layout() <= format::Layout::MAX, name, -1);
  const uint64_t rows = pad16(table->vocab_size()), columns = pad16(d_model);
  if (is_float32()) {
    REQUIRE_INTACT(table->layout() == format::Layout::RowMajor && table->scale() == 0, name, -1);
    return check_float_weights(table->weights(), static_cast<uint32_t>(rows), static_cast<uint32_t>(columns), name, -1);
  }
  const SectionView& weights = section(format::SectionKind::Weights);
  const SectionView& parameters = section(format::SectionKind::Parameters);
  REQUIRE_INTACT(weights.holds(table->weights(), rows * columns) && parameters.holds(table->scale(), 4 * rows), name,
                 -1);
  REQUIRE_INTACT(scales_good(table->scale(), rows), name, -1);
  if (table->layout() != format::Layout::RowMajor) return GOLDCREST_OK;  // the projection's, checked there
  GOLDCREST_TRY(check_weights(table->weights(), nullptr, static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
                              table->layout(), name, -1));
  report_idle(functions_.idle, weights.at<int8_t>(table->weights()), static_cast<size_t>(rows * columns));
  return GOLDCREST_OK;
}

int Validator::check_self_attention(const format::SelfAttention* table, const format::Stack& stack, int32_t index) {
  REQUIRE_INTACT(table != nullptr, "layers.self_attention: missing", index);
  const uint32_t width = stack.n_heads() * stack.d_head();
  GOLDCREST_TRY(check_linear(table->query_key_value(), 3 * width, stack.d_model(),
                             "layers.self_attention.query_key_value", index));
  GOLDCREST_TRY(check_linear(table->out(), stack.d_model(), width, "layers.self_attention.out", index));
  return check_norm(table->norm(), true, stack.d_model(), "layers.self_attention.norm", index);
}

int Validator::check_cross_attention(const format::CrossAttention* table, const format::Stack& stack, int32_t index) {
  REQUIRE_INTACT(table != nullptr, "layers.cross_attention: missing", index);
  const uint32_t width = stack.n_heads() * stack.d_head();
  GOLDCREST_TRY(check_linear(table->query(), width, stack.d_model(), "layers.cross_attention.query", index));
  GOLDCREST_TRY(check_linear(table->key_value(), 2 * width, model_->encoder()->d_model(),
                             "layers.cross_attention.key_value", index));
  GOLDCREST_TRY(check_linear(table->out(), stack.d_model(), width, "layers.cross_attention.out", index));
  return check_norm(table->norm(), true, stack.d_model(), "layers.cross_attention.norm", index);
}

int Validator::check_feed_forward(const format::FeedForward* table, const format::Stack& stack, int32_t index) {
  REQUIRE_INTACT(table != nullptr, "layers.feed_forward: missing", index);
  GOLDCREST_TRY(check_linear(table->in(), stack.d_ff(), stack.d_model(), "layers.feed_forward.in", index));
  GOLDCREST_TRY(check_linear(table->out(), stack.d_model(), stack.d_ff(), "layers.feed_forward.out", index));
  return check_norm(table->norm(), true, stack.d_model(), "layers.feed_forward.norm", index);
}

int Validator::check_stack(const format::Stack* stack, bool is_decoder, const char* name) {
  REQUIRE_INTACT(stack != nullptr, name, -1);
  REQUIRE_INTACT(
      stack->d_model() >= 1 && stack->d_model() <= kMaxWidth && stack->d_ff() >= 1 && stack->d_ff() <= kMaxWidth, name,
      -1);
  REQUIRE_INTACT(stack->n_heads() >= 1 && stack->n_heads() <= kMaxHeads && stack->d_head() >= 16 &&
                     stack->d_head() <= kMaxHeadWidth && stack->d_head() % 16 == 0 &&
                     stack->n_heads() * stack->d_head() <= kMaxWidth,
                 name, -1);
  REQUIRE_INTACT(stack->activation() <= format::Activation::MAX, name, -1);
  REQUIRE_INTACT(in_range(stack->attention_scale(), 1e-4f, 1.0f) && in_range(stack->embedding_scale(), 1e-4f, 65536.0f),
                 name, -1);
  REQUIRE_INTACT(stack->layers() != nullptr && stack->layers()->size() >= 1 && stack->layers()->size() <= kMaxLayers,
                 name, -1);
  GOLDCREST_TRY(
      check_embedding(stack->embedding(), stack->d_model(), is_decoder ? "decoder.embedding" : "encoder.embedding"));
  const uint64_t position_values = uint64_t{stack->max_positions()} * pad16(stack->d_model());
  const SectionView& positions = section(format::SectionKind::Positions);
  REQUIRE_INTACT(stack->max_positions() >= 1 && stack->max_positions() <= kMaxPositions &&
                     positions.holds(stack->positions(), 4 * position_values) &&
                     values_good(positions, stack->positions(), position_values),
                 is_decoder ? "decoder.positions" : "encoder.positions", -1);
  GOLDCREST_TRY(check_norm(stack->embedding_norm(), false, stack->d_model(), "embedding_norm", -1));
  return check_norm(stack->final_norm(), false, stack->d_model(), "final_norm", -1);
}

int Validator::check_layers(const format::Stack& stack, bool is_decoder) {
  for (uint32_t i = 0; i < stack.layers()->size(); ++i) {
    const format::Layer* layer = stack.layers()->Get(i);
    const int32_t index = static_cast<int32_t>(i);
    GOLDCREST_TRY(check_self_attention(layer->self_attention(), stack, index));
    if (is_decoder) GOLDCREST_TRY(check_cross_attention(layer->cross_attention(), stack, index));
    REQUIRE_INTACT(is_decoder || layer->cross_attention() == nullptr, "encoder.layers.cross_attention", index);
    GOLDCREST_TRY(check_feed_forward(layer->feed_forward(), stack, index));
    is_decoder ? report_idle_source_keys(functions_.idle, file_, i)
               : report_idle_encoder_layer(functions_.idle, file_, i);
  }
  return GOLDCREST_OK;
}

int Validator::check_ids(const flatbuffers::Vector<uint32_t>* ids, uint32_t vocab_size, const char* name,
                         int32_t index) {
  if (ids == nullptr) return GOLDCREST_OK;
  REQUIRE_INTACT(ids->size() <= kMaxPositions, name, index);
  for (uint32_t id : *ids) REQUIRE_INTACT(id < vocab_size, name, index);
  return GOLDCREST_OK;
}

int Validator::check_generation() {
  const format::Generation* table = model_->generation();
  REQUIRE_INTACT(table != nullptr, "generation: missing", -1);
  const auto optional_id = [this](int32_t id) {
    return id == -1 || (id >= 0 && static_cast<uint32_t>(id) < target_vocab_size_);
  };
  REQUIRE_INTACT(table->decoder_start_id() < target_vocab_size_, "generation.decoder_start_id", -1);
  REQUIRE_INTACT(table->end_id() < target_vocab_size_, "generation.end_id", -1);
  REQUIRE_INTACT(optional_id(table->pad_id()), "generation.pad_id", -1);
  REQUIRE_INTACT(optional_id(table->unknown_id()), "generation.unknown_id", -1);
  REQUIRE_INTACT(optional_id(table->forced_first_id()), "generation.forced_first_id", -1);
  GOLDCREST_TRY(check_ids(table->suppressed_ids(), target_vocab_size_, "generation.suppressed_ids", -1));
  GOLDCREST_TRY(check_ids(table->source_prefix(), source_vocab_size_, "generation.source_prefix", -1));
  GOLDCREST_TRY(check_ids(table->source_suffix(), source_vocab_size_, "generation.source_suffix", -1));
  REQUIRE_INTACT(table->beam_size() >= 1 && table->beam_size() <= kMaxBeams, "generation.beam_size", -1);
  REQUIRE_INTACT(table->max_target_tokens() >= 1 && table->min_target_tokens() <= table->max_target_tokens(),
                 "generation.max_target_tokens", -1);
  REQUIRE_INTACT(in_range(table->length_penalty(), -2.0f, 4.0f), "generation.length_penalty", -1);
  REQUIRE_INTACT(in_range(table->word_penalty(), -1024.0f, 1024.0f), "generation.word_penalty", -1);
  return GOLDCREST_OK;
}

int Validator::check_limits() {
  const format::Limits* table = model_->limits();
  REQUIRE_INTACT(table != nullptr, "limits: missing", -1);
  REQUIRE_INTACT(table->max_source_tokens() >= 1 && table->max_source_tokens() <= model_->encoder()->max_positions(),
                 "limits.max_source_tokens", -1);
  REQUIRE_INTACT(table->max_target_tokens() >= 1 && table->max_target_tokens() <= model_->decoder()->max_positions(),
                 "limits.max_target_tokens", -1);
  REQUIRE_INTACT(table->max_source_bytes() <= (model_->tokenizer() != nullptr ? kMaxSourceBytes : 0),
                 "limits.max_source_bytes", -1);
  REQUIRE_INTACT(table->beam_size() >= 1 && table->beam_size() <= kMaxBeams, "limits.beam_size", -1);
  REQUIRE_INTACT(table->batch() >= 1 && table->batch() <= kMaxBatch, "limits.batch", -1);
  REQUIRE_INTACT(table->n_best() >= 1 && table->n_best() <= table->beam_size(), "limits.n_best", -1);
  REQUIRE_INTACT(table->encoder_rows() >= 1 && table->encoder_rows() <= 1024, "limits.encoder_rows", -1);
  return GOLDCREST_OK;
}

int Validator::check_tokenizer() {
  const format::Tokenizer* table = model_->tokenizer();
  if (table == nullptr) return GOLDCREST_OK;
  const SectionView& arrays = section(format::SectionKind::Tokenizer);
  REQUIRE_INTACT(table->kind() <= format::TokenizerKind::MAX, "tokenizer.kind", -1);
  REQUIRE_INTACT(table->vocab_size() == source_vocab_size_ && table->unknown_id() < source_vocab_size_ &&
                     table->n_pieces() >= source_vocab_size_ && table->n_pieces() <= kMaxVocabulary,
                 "tokenizer: vocabulary", -1);
  REQUIRE_INTACT(
      arrays.holds(table->trie(), 4ull * table->trie_units()) && arrays.holds(table->type(), table->n_pieces()),
      "tokenizer: pieces", -1);
  REQUIRE_INTACT(arrays.holds(table->normalizer_trie(), 4ull * table->normalizer_trie_units()) &&
                     arrays.holds(table->normalizer_text(), table->normalizer_text_bytes()),
                 "tokenizer: normalizer", -1);
  REQUIRE_INTACT(table->max_piece_bytes() <= 4096, "tokenizer.max_piece_bytes", -1);
  const bool scored = table->kind() == format::TokenizerKind::Unigram || table->kind() == format::TokenizerKind::Bpe;
  if (scored) {
    REQUIRE_INTACT(arrays.holds(table->score(), 4ull * table->n_pieces()), "tokenizer.score", -1);
    for (uint32_t i = 0; i < table->n_pieces() && !functions_.metadata_only; ++i) {
      REQUIRE_INTACT(in_range(arrays.at<float>(table->score())[i], -1e9f, 1e9f), "tokenizer.score",
                     static_cast<int32_t>(i));
    }
    REQUIRE_INTACT(in_range(table->unknown_score(), -1e9f, 1e9f) && in_range(table->max_score(), -1e9f, 1e9f),
                   "tokenizer.unknown_score", -1);
  }
  if (table->byte_fallback()) {
    REQUIRE_INTACT(arrays.holds(table->byte_ids(), 4 * 256), "tokenizer.byte_ids", -1);
    for (int32_t i = 0; i < 256 && !functions_.metadata_only; ++i) {
      REQUIRE_INTACT(arrays.at<uint32_t>(table->byte_ids())[i] < source_vocab_size_, "tokenizer.byte_ids", i);
    }
  }
  return GOLDCREST_OK;
}

int Validator::check_detokenizer() {
  const format::Detokenizer* table = model_->detokenizer();
  if (table == nullptr) return GOLDCREST_OK;
  const SectionView& arrays = section(format::SectionKind::Tokenizer);
  const uint32_t n = table->n_pieces();
  REQUIRE_INTACT(table->kind() <= format::TokenizerKind::MAX && n == target_vocab_size_, "detokenizer: vocabulary", -1);
  REQUIRE_INTACT(arrays.holds(table->text_offset(), 4 * (uint64_t{n} + 1)) &&
                     arrays.holds(table->text(), table->text_bytes()) && arrays.holds(table->type(), n),
                 "detokenizer: pieces", -1);
  if (functions_.metadata_only) return GOLDCREST_OK;
  const uint32_t* offset = arrays.at<uint32_t>(table->text_offset());
  for (uint32_t i = 0; i < n; ++i) {
    REQUIRE_INTACT(offset[i] <= offset[i + 1], "detokenizer.text_offset", static_cast<int32_t>(i));
  }
  REQUIRE_INTACT(offset[n] <= table->text_bytes(), "detokenizer.text_offset", static_cast<int32_t>(n));
  return GOLDCREST_OK;
}

int Validator::check_self_tests() {
  if (model_->self_test() == nullptr) return GOLDCREST_OK;
  for (uint32_t i = 0; i < model_->self_test()->size(); ++i) {
    const format::SelfTestLine* line = model_->self_test()->Get(i);
    const int32_t index = static_cast<int32_t>(i);
    REQUIRE_INTACT(line->source() != nullptr && line->source()->size() >= 1 &&
                       line->source()->size() <= model_->limits()->max_source_tokens(),
                   "self_test.source", index);
    REQUIRE_INTACT(line->target() != nullptr && line->target()->size() >= 1 &&
                       line->target()->size() <= model_->limits()->max_target_tokens(),
                   "self_test.target", index);
    GOLDCREST_TRY(check_ids(line->source(), source_vocab_size_, "self_test.source", index));
    GOLDCREST_TRY(check_ids(line->target(), target_vocab_size_, "self_test.target", index));
  }
  return GOLDCREST_OK;
}

int Validator::run() {
  GOLDCREST_TRY(check_frame());
  GOLDCREST_TRY(check_sections());
  GOLDCREST_TRY(check_stack(model_->encoder(), false, "encoder: dimensions"));
  GOLDCREST_TRY(check_stack(model_->decoder(), true, "decoder: dimensions"));
  source_vocab_size_ = model_->encoder()->embedding()->vocab_size();
  REQUIRE_INTACT(model_->projection() != nullptr && model_->projection()->n() <= kMaxVocabulary, "projection", -1);
  target_vocab_size_ = model_->projection()->n();
  REQUIRE_INTACT(model_->decoder()->embedding()->vocab_size() == target_vocab_size_, "decoder.embedding: rows", -1);
  GOLDCREST_TRY(check_linear(model_->projection(), target_vocab_size_, model_->decoder()->d_model(), "projection", -1));
  GOLDCREST_TRY(check_layers(*model_->encoder(), false));
  GOLDCREST_TRY(check_layers(*model_->decoder(), true));
  GOLDCREST_TRY(check_weights_checksum());
  GOLDCREST_TRY(check_generation());
  GOLDCREST_TRY(check_limits());
  GOLDCREST_TRY(check_tokenizer());
  GOLDCREST_TRY(check_detokenizer());
  return check_self_tests();
}

}  // namespace

int validate_model(const void* model, size_t model_bytes, const VerifyFunctions& functions, goldcrest_detail* detail) {
  return Validator(static_cast<const uint8_t*>(model), model_bytes, functions, detail).run();
}

}  // namespace goldcrest
