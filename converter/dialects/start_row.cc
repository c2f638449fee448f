// SPDX-License-Identifier: Apache-2.0
#include "dialects/start_row.h"

namespace goldcrest::converter {
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
