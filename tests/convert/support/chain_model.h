// SPDX-License-Identifier: Apache-2.0
// Models whose next token depends only on the last one, with given probabilities.
#pragma once

#include "spec/spec.h"
#include "support/random_spec.h"

namespace goldcrest::test {
// A model whose logits after token i are log(next[i][j]); a probability of 0 means never. Start and end token are 0.
inline converter::ModelSpec chain_model(const std::vector<std::vector<float>>& next) {
  const uint32_t n = static_cast<uint32_t>(next.size());
  using namespace converter;
  ModelSpec spec = random_spec(1);
  StackSpec& decoder = spec.decoder;
  decoder.d_model = n;
  decoder.n_heads = decoder.d_head = decoder.d_ff = 1;
  decoder.pre_norm = true;  // the blocks add zero, so the embedding reaches the projection
  decoder.embedding_scale = 1;
  decoder.embedding_norm.reset();
  const auto zeros = [](uint32_t rows, uint32_t columns) {
    const Matrix matrix = {"zeros", rows, columns, std::vector<float>(size_t{rows} * columns)};
    return LinearSpec{std::make_shared<Matrix>(matrix), std::vector<float>(rows)};
  };
  Matrix one_hot = *zeros(n, n).weight, logits = one_hot;
  for (uint32_t i = 0; i < n; ++i) {
    one_hot.values.edit()[i * n + i] = 1;
    for (uint32_t j = 0; j < n; ++j) logits.values.edit()[j * n + i] = next[i][j] > 0 ? std::log(next[i][j]) : -1e4f;
  }
  decoder.embedding = std::make_shared<Matrix>(one_hot);
  decoder.positions = *zeros(11, n).weight;
  const NormSpec norm = {std::vector<float>(n, 1), std::vector<float>(n), 1e-5f};
  const auto attention = [&](uint32_t width) {
    return AttentionSpec{zeros(1, n), zeros(1, width), zeros(1, width), zeros(n, 1), norm};
  };
  decoder.layers = {{attention(n), attention(spec.encoder.d_model), {zeros(1, n), zeros(n, 1), norm}}};
  spec.projection = {std::make_shared<Matrix>(logits), std::vector<float>(n)};
  spec.generation = {};
  return spec;
}
}  // namespace goldcrest::test
