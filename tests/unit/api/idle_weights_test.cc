// SPDX-License-Identifier: Apache-2.0
// goldcrest_config.idle_weights: what the engine reports, when, and that it reads none of it before the next source.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "model/model_view.h"
#include "support/engine_fixture.h"
#include "support/guarded_buffer.h"
#include "support/rng.h"
#include "support/tiny_model.h"

namespace goldcrest {
namespace {

using test::EngineSetup;
using test::TestEngine;

struct Bytes {
  size_t offset, n;
  bool operator==(const Bytes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Bytes& bytes) { return out << bytes.offset << "+" << bytes.n; }

Bytes bytes_of(const LinearView& matrix) {
  return {size_t{matrix.weights} * 64, size_t{matrix.n} * matrix.k * bytes_of(matrix.weight_type)};
}

// Returns the weights that only encoding reads, in the order in which encoding finishes with them.
std::vector<Bytes> weights_of_encoding(const uint8_t* model) {
  const ModelView view = view_model(model);
  std::vector<Bytes> weights;
  for (uint32_t i = 0; i < view.encoder.n_layers; ++i) {
    const EncoderLayerView layer = view_encoder_layer(model, i);
    for (const LinearView& matrix : {layer.self_attention.query_key_value, layer.self_attention.out,
                                     layer.feed_forward.in, layer.feed_forward.out}) {
      weights.push_back(bytes_of(matrix));
    }
  }
  for (uint32_t i = 0; i < view.decoder.n_layers; ++i) {
    weights.push_back(bytes_of(view_decoder_layer(model, i).cross_attention.key_value));
  }
  return weights;
}

// Returns the tables whose rows are looked up.
std::vector<Bytes> tables(const uint8_t* model) {
  const ModelView view = view_model(model);
  std::vector<Bytes> found;
  for (const StackView& stack : {view.encoder, view.decoder}) {
    if (stack.embedding.layout != Layout::kRowMajor) continue;
    found.push_back(
        {size_t{stack.embedding.weights} * 64,
         size_t{pad16(stack.embedding.vocab_size)} * stack.d_model_padded * bytes_of(view.projection.weight_type)});
  }
  return found;
}

// A model in its own memory, and the ranges that the engine reported.
struct IdleModel {
  explicit IdleModel(const converter::FileImage& file)
      : image(file.span().begin(), file.span().end()), bytes(image.size()) {
    std::copy(image.begin(), image.end(), bytes.begin());
  }

  static void report(void* context, const void* weights, size_t n) {
    IdleModel& model = *static_cast<IdleModel*>(context);
    const size_t offset = static_cast<size_t>(static_cast<const uint8_t*>(weights) - model.bytes.get());
    model.reported.push_back({offset, n});
    if (model.spoils) std::memset(model.bytes.get() + offset, 0x55, n);
  }

  EngineSetup setup(goldcrest_verify verify) {
    EngineSetup made;
    made.verify = verify;
    made.limits.batch = 3;
    made.limits.beam_size = 2;
    made.limits.encoder_rows = 2;  // so there are many blocks
    made.idle_weights = report;
    made.idle_context = this;
    return made;
  }

  const std::vector<uint8_t> image;
  test::GuardedBuffer<uint8_t> bytes;
  std::vector<Bytes> reported;
  bool spoils = false;
};

class IdleWeights : public testing::TestWithParam<test::TinyOptions> {
 protected:
  IdleWeights() : model_(test::tiny_file(test::tiny_spec(GetParam()))) {}

  std::vector<std::vector<int32_t>> sources(uint64_t seed) const {
    test::Rng rng(seed);
    std::vector<std::vector<int32_t>> made;
    for (const uint32_t n : {5u, 1u, 8u}) made.push_back(rng.ids(n, GetParam().source_vocab_size));
    return made;
  }

  IdleModel model_;
};

TEST_P(IdleWeights, AreReportedOnceTheyAreChecked) {
  const TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_FULL));
  std::vector<Bytes> expected = tables(model_.bytes.get());
  for (const Bytes& weights : weights_of_encoding(model_.bytes.get())) expected.push_back(weights);
  EXPECT_EQ(model_.reported, expected);
}

TEST_P(IdleWeights, AreNotReportedWhereTheyWereNotRead) {
  const TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_STRUCTURE));
  EXPECT_EQ(model_.reported, std::vector<Bytes>());
}

TEST_P(IdleWeights, AreReportedOnceABatchAndNotReadUntilTheNext) {
  TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_FULL));
  EngineSetup untold = model_.setup(GOLDCREST_VERIFY_FULL);
  untold.idle_weights = nullptr;
  const converter::FileImage file = test::tiny_file(test::tiny_spec(GetParam()));
  TestEngine plain(file.span(), untold);
  model_.spoils = true;
  for (const uint64_t seed : {3u, 4u}) {
    model_.reported.clear();
    EXPECT_EQ(engine.run(sources(seed)), plain.run(sources(seed)));
    EXPECT_EQ(model_.reported, weights_of_encoding(model_.image.data()));
    EXPECT_FALSE(std::equal(model_.image.begin(), model_.image.end(), model_.bytes.begin())) << "nothing was spoilt";
    std::copy(model_.image.begin(), model_.image.end(), model_.bytes.begin());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, IdleWeights,
                         testing::Values(test::odd_tiny_options(), test::deep_tiny_options(),
                                         test::mixed_tiny_options()));

}  // namespace
}  // namespace goldcrest
