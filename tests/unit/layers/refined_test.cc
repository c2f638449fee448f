// SPDX-License-Identifier: Apache-2.0
// Second matrices of linear layers and of tables.
#include "api/engine.h"
#include "layers/operations.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest { namespace {
constexpr uint32_t kSecondRows = 2;

// A logit of a matrix with a second one is ((r + p) + bias) + (r' + p'), where r and r' are products with the second
// matrix. Without fine inputs there are no remainders of rows. A token's embedding is a sum of two rows.
TEST(SecondMatrix, AddsItsProducts) {
  const converter::ModelSpec spec = test::tiny_spec(test::odd_tiny_options());
  for (const char* fine : {"none", "all"}) {
    const converter::FileImage file = test::fine_tiny_file(spec, {}, fine, "all");
    const test::TestEngine engine(file.span(), {});
    const Runtime& runtime = engine.get()->runtime;
    const LinearTensors outputs = tensors_of(runtime, runtime.model.projection);
    ASSERT_EQ(outputs.rows_to_second(), outputs.n);
    const uint32_t k = outputs.k, n_parts = outputs.fine_input ? 2 : 1;
    const std::vector<float> none(outputs.n, 0.0f);
    test::Rng rng(12);
    std::vector<int8_t> q(2 * kSecondRows * k);  // the rows, then their remainders
    for (int8_t& value : q) value = static_cast<int8_t>(static_cast<int>(rng.below(255)) - 127);
    std::vector<float> scales = {0.01f, 0.02f, 0.00005f, 0.0001f}, scratch((2 * kSecondRows + 1) * 16);
    const auto logits = [&](const OutputInputs& inputs, const LinearTensors& tensors) {
      std::vector<float> y(kSecondRows * kOutputBlock);
      kInt8Operations.output_block(runtime, {&tensors, 0, outputs.n, inputs, kSecondRows, y.data()}, {});
      return y;
    };
    // The product of rows or their remainders with one of the matrices.
    const auto product = [&](uint32_t part, bool second) {
      LinearTensors one = outputs;
      one.panels_to_second = 0;
      one.bias = none.data();
      if (second) {
        one.weights = static_cast<const int8_t*>(one.weights) + size_t{one.n} * k;
        one.scale += one.n;
        one.weight_sum += one.n;
      }
      return logits({{q.data() + part * kSecondRows * k, scales.data() + part * kSecondRows}, {}}, one);
    };
    const std::vector<float> found = logits({{q.data(), scales.data()}, {scratch.data(), scratch.size()}}, outputs);
    const std::vector<float> p = product(0, false), r = product(0, true);
    EXPECT_NE(r, std::vector<float>(r.size()));
    for (uint32_t row = 0; row < kSecondRows; ++row) {
      for (uint32_t j = 0; j < outputs.n; ++j) {
        const size_t at = row * kOutputBlock + j;
        float of_remainders = 0;
        if (n_parts == 2) of_remainders = product(1, true)[at] + product(1, false)[at];
        ASSERT_EQ(found[at], ((r[at] + p[at]) + outputs.bias[j]) + of_remainders) << fine << ", " << j;
      }
    }
  }
}

// The second matrix leaves less than a hundredth of what the first one leaves of a table's rows.
TEST(SecondMatrix, BringsEmbeddingsNearerToFloat32) {
  const converter::ModelSpec spec = test::tiny_spec(test::odd_tiny_options());
  const auto largest_error = [&](const char* refine) {
    const converter::FileImage file = test::fine_tiny_file(spec, {}, "none", refine);
    const test::TestEngine engine(file.span(), {});
    const Runtime& runtime = engine.get()->runtime;
    const StackView& stack = runtime.model.decoder;
    const converter::Matrix& table = *spec.decoder.embedding;
    float error = 0;
    std::vector<float> x(stack.d_model_padded);
    for (uint32_t token = 0; token < table.rows; ++token) {
      kInt8Operations.embed(runtime, stack, token, 0, x.data());
      for (uint32_t j = 0; j < table.columns; ++j) {
        const float wanted = table.row(token)[j] * stack.embedding_scale + runtime.tensor<float>(stack.positions)[j];
        error = std::max(error, std::fabs(x[j] - wanted));
      }
    }
    return error;
  };
  const float coarse = largest_error("none"), fine = largest_error("decoder.embedding");
  EXPECT_GT(coarse, 1e-4f);
  EXPECT_LT(fine, coarse / 100);
}
}}  // namespace goldcrest
