// SPDX-License-Identifier: Apache-2.0
// Sinusoidal position tables for all dialects. Frameworks differ in frequency, layout and first position.
#include "dialects/positions.h"
#include <algorithm>
#include <cmath>
#include "math/deterministic_math.h"
#include "spec/error.h"

namespace goldcrest::converter {
void check_position_rows(const std::string& where, uint64_t rows, uint32_t d_model) {
  if (rows * d_model > kMaxPositionValues)
    throw Error("{} is {}, expected at most {} for d_model {}", where, rows, kMaxPositionValues / d_model, d_model);
}

Matrix sinusoid_table(const Sinusoid& sinusoid, uint32_t rows, uint32_t d_model) {
  const uint32_t pairs = d_model / 2;
  const double denominator = sinusoid.denominator_minus_two ? d_model - 2.0 : d_model;
  const double log_base = exact_log(sinusoid.base);
  std::vector<float> values(size_t{rows} * d_model);
  for (uint32_t i = 0; i < pairs; ++i) {
    const double frequency = exact_exp(-2.0 * i / denominator * log_base);
    const uint32_t sine_column = sinusoid.interleaved ? 2 * i : i,
                   cosine_column = sinusoid.interleaved ? 2 * i + 1 : pairs + i;
    for (uint32_t p = 0; p < rows; ++p) {
      const double angle = (static_cast<double>(p) + sinusoid.first) * frequency;
      float* row = values.data() + size_t{p} * d_model;
      row[sine_column] = static_cast<float>(exact_sin(angle));
      row[cosine_column] = static_cast<float>(exact_cos(angle));
    }
  }
  return {"sinusoidal positions", rows, d_model, std::move(values)};
}

float largest_difference(const Matrix& a, const Matrix& b) {
  const float *const first = a.values.data(), *const second = b.values.data();
  float largest = 0;
  for (size_t i = 0; i < size_t{std::min(a.rows, b.rows)} * a.columns; ++i)
    largest = std::max(largest, std::fabs(first[i] - second[i]));
  return largest;
}

namespace {
constexpr float kNeverChosen = -65536.0f;  // the start id's logit: its exp is 0

std::shared_ptr<const Matrix> with_zero_row(const std::shared_ptr<const Matrix>& table) {
  Matrix result = *table;
  const size_t n = size_t{++result.rows} * result.columns;
  result.values = MatrixValues(n, [table, n] {
    std::vector<float> values = table->values.take();
    values.resize(n, 0.0f);  // sources reserve room for a row
    return values;
  });
  if (!result.stored_scale.empty()) result.stored_scale.push_back(result.stored_scale.back());
  return std::make_shared<const Matrix>(std::move(result));
}

// Adds the entry after all others of the vocabulary.
void add_entry(std::optional<TokenizerSpec>& tokenizer) {
  if (!tokenizer) return;
  tokenizer->pieces.insert(tokenizer->pieces.begin() + tokenizer->vocab_size, {"", 0, PieceType::kControl});
  ++tokenizer->vocab_size;
}
}  // namespace

void add_start_row(ModelSpec& spec) {
  const bool is_shared = spec.encoder.embedding == spec.decoder.embedding;
  const bool is_tied = spec.projection.weight == spec.decoder.embedding;
  spec.generation.decoder_start_id = spec.decoder.embedding->rows;
  spec.generation.suppressed_ids.push_back(spec.decoder.embedding->rows);
  spec.decoder.embedding = with_zero_row(spec.decoder.embedding);
  if (is_shared) spec.encoder.embedding = spec.decoder.embedding;
  spec.projection.weight = is_tied ? spec.decoder.embedding : with_zero_row(spec.projection.weight);
  spec.projection.bias.push_back(kNeverChosen);
  add_entry(spec.target_tokenizer);
  if (is_shared) add_entry(spec.source_tokenizer);
  spec.added_target_ids = 1;
}
}  // namespace goldcrest::converter
