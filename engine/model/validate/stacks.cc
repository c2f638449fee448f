// SPDX-License-Identifier: Apache-2.0
// Checks the dimensions of the stacks, and every matrix, norm and table of them (FORMAT.md, sections 3 to 5 and 9).
#include "base/exact_floats.h"
#include "base/arithmetic.h"
#include "model/blocks.h"
#include "model/validate/validator.h"

namespace goldcrest {
namespace {
constexpr uint32_t kPieceBytes = 1u << 16;  // weights: the values are checked while the checksum has them cached

// Returns whether every multiplier is in [-15, 15] and weight_sum, if not null, has every row's sum.
bool packed_weights_valid(const PackedMatrix& matrix, const int32_t* weight_sum) {
  for (uint32_t output = 0; output < matrix.n; ++output) {
    int32_t sum = 0;
    for (uint32_t group = packed_groups(matrix.k); group-- > 0;) {
      int8_t w[kPackedGroup];
      const int32_t m = unpack_group(matrix, output, group, w);
      if (m < -kMostMultiplier || m > kMostMultiplier) return false;
      for (const int8_t weight : w) sum += weight;
    }
    if (weight_sum != nullptr && sum != weight_sum[output]) return false;
  }
  return true;
}
}  // namespace

// Reports damage first: a wrong checksum goes before a bad value.
int Validator::refuse_weights(Subject subject) {
  GOLDCREST_TRY(check_weights_checksum());
  return refuse(subject);
}

// Checks the values of a matrix and continues the checksum up to its end. Matrices mostly come in the file's order; in
// any order, each byte enters the checksum once.
int Validator::check_int8_weights(const StoredMatrix& matrix, const int32_t* weight_sum, Subject subject) {
  const uint32_t n = matrix.n, k = matrix.k;
  GOLDCREST_REQUIRE_INTACT(
      section(format::SectionKind::Weights).holds(matrix.units, matrix.bytes()), subject.name, subject.index);
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  const int8_t* w = section(format::SectionKind::Weights).at<int8_t>(matrix.units);
  if (matrix.is_packed()) {
    const PackedMatrix packed = {
        reinterpret_cast<const uint8_t*>(w), w + nibble_bytes(n, k), n, k, static_cast<Layout>(matrix.layout)};
    return packed_weights_valid(packed, weight_sum) ? GOLDCREST_OK : refuse_weights(subject);
  }
  const uint32_t piece = k < kPieceBytes / 16 ? kPieceBytes / k / 16 * 16 : 16;
  for (uint32_t row = 0; row < n; row += piece) {
    const uint32_t rows = smaller(n - row, piece);
    if (!functions_.weights_valid(w + uint64_t{row} * k, weight_sum != nullptr ? weight_sum + row : nullptr, rows, k,
            static_cast<Layout>(matrix.layout)))
      return refuse_weights(subject);
    checksum_weights_to(matrix.units * kAlignment + uint64_t{row + rows} * k);
  }
  return GOLDCREST_OK;
}

// The same for float32 files, whose weights have the bounds of all floats.
int Validator::check_float_weights(const StoredMatrix& matrix, Subject subject) {
  const SectionView& weights = section(format::SectionKind::Weights);
  const uint64_t end = uint64_t{matrix.n} * matrix.k, piece = kPieceBytes / sizeof(float);
  GOLDCREST_REQUIRE_INTACT(weights.holds(matrix.units, end * sizeof(float)), subject.name, subject.index);
  if (functions_.weights_valid == nullptr) return GOLDCREST_OK;
  for (uint64_t first = 0; first < end; first += piece) {
    const uint64_t count = smaller(end - first, piece);
    if (!values_in_range(weights.at<float>(matrix.units) + first, count)) return refuse_weights(subject);
    checksum_weights_to(matrix.units * kAlignment + (first + count) * sizeof(float));
  }
  return GOLDCREST_OK;
}

// Checks whether a matrix may have a second one, or weights of 4 bits.
template <typename Table> int Validator::check_kind(const Table& table, uint32_t n, Subject subject) {
  const bool refined = is_refined(table);
  return (refined && n > kMostRefinedRows) || (is_float32() && (refined || is_packed(table))) ||
                 (refined && is_packed(table))
             ? refuse(subject)
             : GOLDCREST_OK;
}

int Validator::check_linear(const format::Linear* table, uint32_t n, uint32_t k, Subject subject) {
  const auto [name, index] = subject;
  GOLDCREST_REQUIRE_INTACT(table != nullptr, name, index);
  GOLDCREST_REQUIRE_INTACT(table->n() == n && table->k() == k, name, index);
  GOLDCREST_REQUIRE_INTACT(!(is_float32() && table->fine_input()), name, index);
  const bool refined = is_refined(*table);
  GOLDCREST_TRY(check_kind(*table, n, subject));
  const StoredMatrix matrix = {table->weights(), pad16(n) << refined, pad16(k), table->layout(), is_packed(*table)};
  const uint64_t row_bytes = 4 * uint64_t{matrix.n};  // one value for each row
  const SectionView& parameters = section(format::SectionKind::Parameters);
  GOLDCREST_REQUIRE_INTACT(
      floats_good(parameters, table->bias(), pad16(n)) && padding_good(table->bias(), n, 0), name, index);
  if (is_float32()) {
    GOLDCREST_REQUIRE_INTACT(
        table->layout() == format::Layout::RowMajor && table->scale() == 0 && table->weight_sum() == 0, name, index);
    return check_float_weights(matrix, subject);
  }
  GOLDCREST_REQUIRE_INTACT(
      table->layout() == format::Layout::N16K4 || table->layout() == format::Layout::N4K16, name, index);
  GOLDCREST_REQUIRE_INTACT(
      parameters.holds(table->scale(), row_bytes) && parameters.holds(table->weight_sum(), row_bytes), name, index);
  GOLDCREST_REQUIRE_INTACT(
      scales_good(table->scale(), matrix.n) && padding_good(table->scale(), n, kBitsOne), name, index);
  // The scales of the second matrix are padded as those of the first.
  GOLDCREST_REQUIRE_INTACT(!refined || padding_good(table->scale() + pad16(n) / 16, n, kBitsOne), name, index);
  return check_int8_weights(matrix, parameters.at<int32_t>(table->weight_sum()), subject);
}

int Validator::check_norm(const format::Norm* table, uint32_t d_model, const char* name, int32_t index) {
  GOLDCREST_REQUIRE_INTACT(table != nullptr, name, index);
  const SectionView& parameters = section(format::SectionKind::Parameters);
  const uint32_t padded = pad16(d_model);
  GOLDCREST_REQUIRE_INTACT(floats_good(parameters, table->gamma(), padded) &&
                               floats_good(parameters, table->beta(), padded) &&
                               padding_good(table->gamma(), d_model, 0) && padding_good(table->beta(), d_model, 0),
      name, index);
  GOLDCREST_REQUIRE_INTACT(in_range(table->epsilon(), kMinEpsilon, kMaxEpsilon), name, index);
  return GOLDCREST_OK;
}

// Returns whether these are the projection's weights, which check_linear reads.
bool Validator::is_projection(const StoredMatrix& matrix) const {
  const format::Linear* table = model_->projection();
  return table != nullptr && table->weights() == matrix.units && table->layout() == matrix.layout &&
         is_packed(*table) == matrix.is_packed() && pad16(table->n()) << is_refined(*table) == matrix.n &&
         pad16(table->k()) == matrix.k;
}

int Validator::check_embedding(const format::Embedding* table, uint32_t d_model, const char* name) {
  GOLDCREST_REQUIRE_INTACT(table != nullptr, name, -1);
  GOLDCREST_REQUIRE_INTACT(
      table->vocab_size() >= 1 && table->vocab_size() <= kMaxVocabulary && table->d_model() == d_model, name, -1);
  GOLDCREST_REQUIRE_INTACT(table->layout() <= format::Layout::MAX, name, -1);
  GOLDCREST_TRY(check_kind(*table, table->vocab_size(), {name, -1}));
  const StoredMatrix matrix = {table->weights(), pad16(table->vocab_size()) << is_refined(*table), pad16(d_model),
      table->layout(), is_packed(*table)};
  if (is_float32()) {
    GOLDCREST_REQUIRE_INTACT(table->layout() == format::Layout::RowMajor && table->scale() == 0, name, -1);
    return check_float_weights(matrix, {name, -1});
  }
  GOLDCREST_REQUIRE_INTACT(
      section(format::SectionKind::Parameters).holds(table->scale(), 4 * uint64_t{matrix.n}), name, -1);
  GOLDCREST_REQUIRE_INTACT(scales_good(table->scale(), matrix.n), name, -1);
  if (is_projection(matrix)) return GOLDCREST_OK;
  GOLDCREST_TRY(check_int8_weights(matrix, nullptr, {name, -1}));
  report_idle(functions_.idle, section(format::SectionKind::Weights).at<int8_t>(matrix.units),
      size_t{matrix.n} * matrix.row_bytes());
  return GOLDCREST_OK;
}

// Checks the embedding of a stack, or the frontend in its place.
int Validator::check_source(const format::Stack& stack, bool is_decoder) {
  if constexpr (kHasSpeech) {
    if (!is_decoder && has_frontend()) return check_frontend();
    GOLDCREST_REQUIRE_INTACT(stack.frontend() == nullptr, "decoder.frontend", -1);
  }
  return check_embedding(stack.embedding(), stack.d_model(), is_decoder ? "decoder.embedding" : "encoder.embedding");
}

int Validator::check_rotary(const format::Stack& stack) {
  const format::Rotary* table = stack.rotary();
  if (table == nullptr) return GOLDCREST_OK;
  const uint32_t half = table->half();
  if (half < 16 || half % 16 != 0 || half > stack.d_head() / 2) return refuse({"rotary.half", -1});
  const uint32_t values = stack.max_positions() * 2 * half;  // at most 2^20 * 2^10
  if (!floats_good(section(format::SectionKind::Positions), table->table(), values))
    return refuse({"rotary.table", -1});
  return GOLDCREST_OK;
}

int Validator::check_stack(const format::Stack* stack, bool is_decoder, const char* name) {
  GOLDCREST_REQUIRE_INTACT(stack != nullptr, name, -1);
  GOLDCREST_REQUIRE_INTACT(
      stack->d_model() >= 1 && stack->d_model() <= kMaxWidth && stack->d_ff() >= 1 && stack->d_ff() <= kMaxWidth, name,
      -1);
  GOLDCREST_REQUIRE_INTACT(stack->n_heads() >= 1 && stack->n_heads() <= kMaxHeads && stack->d_head() >= 16 &&
                               stack->d_head() <= kMaxHeadWidth && stack->d_head() % 16 == 0 &&
                               stack->n_heads() * stack->d_head() <= kMaxWidth,
      name, -1);
  GOLDCREST_REQUIRE_INTACT(stack->activation() <= format::Activation::Silu, name, -1);
  GOLDCREST_REQUIRE_INTACT(in_range(stack->attention_scale(), kMinAttentionScale, kMaxAttentionScale) &&
                               in_range(stack->embedding_scale(), kMinEmbeddingScale, kMaxEmbeddingScale),
      name, -1);
  GOLDCREST_REQUIRE_INTACT(
      stack->layers() != nullptr && stack->layers()->size() >= 1 && stack->layers()->size() <= kMaxLayers, name, -1);
  if (has_feature(features_, kFeatureIntegerAttention) && stack->integer_attention()) {
    const bool keys_fit = stack->max_positions() <= kMostIntegerKeys &&
                          (!is_decoder || model_->encoder()->max_positions() <= kMostIntegerKeys);
    GOLDCREST_REQUIRE_INTACT(keys_fit && !is_float32() && !stack->fine_attention(), name, -1);
  }
  GOLDCREST_TRY(check_source(*stack, is_decoder));
  const bool has_positions = uses_positions(*stack);
  const uint64_t position_rows = has_positions ? stack->max_positions() : 1;
  const uint64_t position_values = position_rows * pad16(stack->d_model());
  const SectionView& positions = section(format::SectionKind::Positions);
  GOLDCREST_REQUIRE_INTACT(stack->max_positions() >= 1 && stack->max_positions() <= kMaxPositions &&
                               floats_good(positions, stack->positions(), position_values),
      is_decoder ? "decoder.positions" : "encoder.positions", -1);
  if (has_feature(features_, kFeatureRotary)) GOLDCREST_TRY(check_rotary(*stack));
  GOLDCREST_REQUIRE_INTACT(!(is_float32() && stack->fine_attention()), name, -1);
  if (stack->embedding_norm() != nullptr)
    GOLDCREST_TRY(check_norm(stack->embedding_norm(), stack->d_model(), "embedding_norm", -1));
  const format::Linear* const head = has_feature(features_, kFeatureImage) ? stack->head() : nullptr;
  if (head != nullptr) {
    GOLDCREST_TRY(check_linear(head, stack->d_model(), stack->d_model(), {"head", -1}));
    GOLDCREST_REQUIRE_INTACT(
        is_decoder && stack->final_norm() != nullptr && !head->fine_input() && !head->refined(), "head", -1);
  }
  return stack->final_norm() != nullptr ? check_norm(stack->final_norm(), stack->d_model(), "final_norm", -1)
                                        : GOLDCREST_OK;
}

// Returns whether the biases of a self-attention are good (FORMAT.md, "Attention biases"), or there are none.
bool Validator::bias_good(const format::AttentionBias* table, const format::Stack& stack, bool is_decoder) const {
  if (table == nullptr) return true;
  const uint32_t before = table->before(), after = table->after(), farthest = stack.max_positions() - 1;
  const uint32_t n_allowed = kMaxPositions - farthest;  // distances from the farthest position on
  const bool has_distances = before - farthest < n_allowed && (is_decoder ? after == 0 : after - farthest < n_allowed);
  const uint32_t n = before + 1 + after, stride = pad16(n) + 16, n_values = stride * stack.n_heads();  // below 2^30
  const SectionView& positions = section(format::SectionKind::Positions);
  const uint32_t units = table->table();
  if (!has_distances || !floats_good(positions, units, n_values)) return false;
  const uint32_t* bits = positions.at<uint32_t>(units);
  for (uint32_t i = 0; i < n_values && !functions_.metadata_only; i += stride)
    for (uint32_t column = n; column < stride; ++column)
      if (bits[i + column] != 0) return false;
  return true;
}

namespace {
// Makes the checks of one layer, up to the first that fails.
struct LayerCheck {
  Validator& validator;
  const BlockWidths& widths;
  int32_t index;
  int status;

  // Returns whether there is a block to check. Refuses a block that is missing or misplaced.
  [[gnu::noinline]] bool has_block(bool found, bool expected, const char* name) {
    if (status == GOLDCREST_OK && found != expected) status = validator.refuse({name, index});
    return status == GOLDCREST_OK && found;
  }
  [[gnu::noinline]] void operator()(const MatrixEntry& entry, const format::Linear* linear) {
    if (status != GOLDCREST_OK) return;
    status = validator.check_linear(linear, entry.n.in(widths), entry.k.in(widths), {entry.name, index});
  }
  [[gnu::noinline]] void norm(const format::Norm* table, const char* name) {
    if (status == GOLDCREST_OK) status = validator.check_norm(table, widths.of(Width::kModel), name, index);
  }
};
}  // namespace

int Validator::check_layers(const format::Stack& stack, bool is_decoder) {
  const BlockWidths widths = widths_of(stack, model_->encoder()->d_model());
  for (uint32_t i = 0; i < stack.layers()->size(); ++i) {
    LayerCheck check = {*this, widths, static_cast<int32_t>(i), GOLDCREST_OK};
    const format::Layer& layer = *stack.layers()->at(i);
    const bool is_recurrent = is_decoder && has_recurrent(layer) && layer.self_attention() == nullptr;
    const LayerKind kind = {is_decoder, is_recurrent, features_};
    for_each_block(
        [&](auto block, const auto* table) {
          const bool expected = block.belongs(kind);
          if (!check.has_block(table != nullptr, expected, expected ? block.kMissing : block.kMisplaced)) return;
          block.for_each_matrix(check, *table);
          check.norm(table->norm(), block.kNorm);
          if constexpr (kHasLayers && kCanHaveBias<Plain<decltype(*table)>>)
            check.has_block(bias_good(bias_of(*table), stack, is_decoder), true, "self_attention.bias");
        },
        layer);
    GOLDCREST_TRY(check.status);
    is_decoder ? report_idle_source_keys(functions_.idle, file_, i)
               : report_idle_encoder_layer(functions_.idle, file_, i);
  }
  return GOLDCREST_OK;
}
}  // namespace goldcrest
