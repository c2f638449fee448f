// SPDX-License-Identifier: Apache-2.0
// Several matrices multiply a block's input, as in a gated feed-forward, wherever their products are stored.
#include <gtest/gtest.h>

#include <vector>

#include "api/engine.h"
#include "layers/norm.h"
#include "support/engine_fixture.h"
#include "support/rng.h"
#include "support/tiny_model.h"

namespace goldcrest {
namespace {

constexpr uint32_t kRows = 2;

std::vector<float> product(const Pass& pass, const LinearView& view, Quantized h) {
  multiply(pass, view, h, pass.projected);
  return {pass.projected, pass.projected + size_t{kRows} * view.n};
}

// With pre-norm, norm(x) is computed in pass.projected, which the first product overwrites.
TEST(Quantized, OutlivesTheFirstProduct) {
  for (const bool pre_norm : {false, true}) {
    test::TinyOptions options = test::odd_tiny_options();
    options.encoder.pre_norm = pre_norm;
    const converter::FileImage file = test::tiny_file(test::tiny_spec(options));
    const test::TestEngine engine(file.span(), {});
    const Runtime& runtime = engine.get()->runtime;
    const StackView& stack = runtime.model.encoder;
    const Pass pass = make_pass(runtime, stack, engine.get()->encoder.pass, 0, {{0, kRows}, 0, 1});
    const EncoderLayerView layer = view_encoder_layer(runtime.file, 0);
    const LinearView &in = layer.feed_forward.in, &query_key_value = layer.self_attention.query_key_value;

    test::Rng rng(5);
    std::vector<float> x(kRows * stack.d_model_padded), h = x;
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % stack.d_model_padded < stack.d_model ? rng.uniform() : 0.0f;
    h = x;
    if (pre_norm) layer_norm(runtime, stack, layer.feed_forward.norm, {x.data(), h.data(), kRows});
    const std::vector<float> gate = product(pass, in, quantize(pass, h.data(), stack.d_model_padded));
    const std::vector<float> values = product(pass, query_key_value, quantize(pass, h.data(), stack.d_model_padded));

    residual(pass, layer.feed_forward.norm, x.data(), [&](Quantized input) {
      EXPECT_EQ(product(pass, in, input), gate);
      EXPECT_EQ(product(pass, query_key_value, input), values);
    });
  }
}

}  // namespace
}  // namespace goldcrest
