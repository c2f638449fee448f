// SPDX-License-Identifier: Apache-2.0
// Files whose stacks make choices that need a feature bit: gates, RMS norms, attention biases. Choices with and without
// the bit, wrong values, damage.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/build_options.h"
#include "hostile_file.h"
#include "model/model_view.h"
#include "support/rng.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using format::ModelT;
using test::expect_refused;
using test::remade;
using test::smallest_biased_file;
using test::smallest_biased_float32_file;
using test::smallest_file;
using test::smallest_gated_file;
using test::smallest_gated_float32_file;
using test::try_file;
using test::Verdict;

constexpr const char* kEncoder = "encoder: a choice without its feature bit";
constexpr const char* kDecoder = "decoder: a choice without its feature bit";

// With right checksums a flipped bit of the metadata may be meaningful. The file is refused with a reason, or it runs.
void expect_flips_refused_or_run(const FileImage& original) {
  test::Rng rng(6);
  int refused = 0, accepted = 0;
  const uint32_t metadata_bytes = format::GetModel(original.bytes())->sections()->Get(0)->offset() * 64;
  for (int i = 0; i < 1500; ++i) {
    FileImage file = original;
    const uint32_t byte = rng.below(rng.below(2) == 0 ? metadata_bytes : static_cast<uint32_t>(file.size() - 64));
    file.bytes()[byte] ^= static_cast<uint8_t>(1 << rng.below(8));
    test::repair_checksums(file);
    SCOPED_TRACE(testing::Message() << "byte " << byte);
    (try_file(file).status < 0 ? refused : accepted) += 1;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);
}

TEST(Gates, TheFilesRun) {
  for (const FileImage* file : {&smallest_gated_file(), &smallest_gated_float32_file()}) {
    const Verdict verdict = try_file(*file);
    EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
    EXPECT_NE(format::GetModel(file->bytes())->features() & kFeatureGated, 0u);
    const EncoderLayerView layer = view_encoder_layer(file->bytes(), 0);
    EXPECT_EQ(layer.feed_forward.in.n, 32u);
    EXPECT_EQ(layer.feed_forward.out.k, 16u);
  }
  EXPECT_EQ(format::GetModel(smallest_gated_file().bytes())->features(), kFeatureGated);
}

TEST(Gates, AreRefusedWithoutTheBitOrWithWrongShapes) {
  for (const FileImage* file : {&smallest_gated_file(), &smallest_gated_float32_file()}) {
    expect_refused(*file,
                   {
                       {kEncoder, [](ModelT& m) { m.features &= ~kFeatureGated; }},
                       {kDecoder,
                        [](ModelT& m) {
                          m.features &= ~kFeatureGated;
                          m.encoder->gated = false;
                        }},
                       {"layers.feed_forward.in", [](ModelT& m) { m.encoder->gated = false; }},
                       {"layers.feed_forward.in", [](ModelT& m) { m.decoder->gated = false; }},
                       {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 5; }},
                       {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 10; }},
                       {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 16; }},
                       {"layers.feed_forward.out", [](ModelT& m) { m.encoder->layers[0]->feed_forward->out->k = 10; }},
                   });
  }
  expect_refused(smallest_file(), {{kEncoder, [](ModelT& m) { m.encoder->gated = true; }},
                                   {kDecoder, [](ModelT& m) { m.decoder->gated = true; }},
                                   {"layers.feed_forward.in", [](ModelT& m) {
                                      m.features = kFeatureGated;
                                      m.decoder->gated = true;
                                    }}});
}

TEST(Gates, TheBitAloneChangesNothing) {
  const Verdict verdict = try_file(remade(smallest_file(), [](ModelT& m) { m.features = kFeatureGated; }));
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
}

TEST(Gates, EveryTruncationAndEveryFlippedBitIsRefused) {
  test::expect_damage_refused(smallest_gated_file());
  expect_flips_refused_or_run(smallest_gated_file());
}

// A stack may leave its positions unused only with a feature that has another way to tell positions apart.
TEST(Positions, ThatAreUnusedAreRefusedWithoutAReason) {
  expect_refused(smallest_file(), {{kEncoder, [](ModelT& m) { m.encoder->positions_used = false; }},
                                   {kDecoder, [](ModelT& m) { m.decoder->positions_used = false; }}});
  // With positions, the table needs a row for each.
  expect_refused(smallest_biased_file(), {{"encoder.positions", [](ModelT& m) {
                                             m.encoder->positions_used = true;
                                             m.encoder->positions =
                                                 static_cast<uint32_t>((m.sections[2]->size + 63) / 64) - 1;
                                           }}});
}

TEST(Biases, TheFilesRun) {
  for (const FileImage* file : {&smallest_biased_file(), &smallest_biased_float32_file()}) {
    const Verdict verdict = try_file(*file);
    EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
    const EncoderLayerView layer = view_encoder_layer(file->bytes(), 0);
    EXPECT_NE(layer.self_attention.bias.table, 0u);
    EXPECT_EQ(layer.self_attention.bias.before, 3u);
    EXPECT_EQ(layer.self_attention.bias.stride, 32u);
    const ModelView model = view_model(file->bytes());
    EXPECT_FALSE(model.encoder.is_centred || model.decoder.is_centred);
    EXPECT_FALSE(model.encoder.positions_used || model.decoder.positions_used);
  }
  EXPECT_EQ(format::GetModel(smallest_biased_file().bytes())->features(), kFeatureRmsNorm | kFeatureAttentionBias);
}

format::AttentionBiasT& bias_of_encoder(ModelT& m) { return *m.encoder->layers[0]->self_attention->bias; }
format::AttentionBiasT& bias_of_decoder(ModelT& m) { return *m.decoder->layers[0]->self_attention->bias; }
uint32_t end_of_positions(const ModelT& m) { return static_cast<uint32_t>((m.sections[2]->size + 63) / 64); }

TEST(Biases, AreRefusedWithoutTheBitOrWithWrongExtents) {
  constexpr const char* kBias = "layers.self_attention.bias";
  for (const FileImage* file : {&smallest_biased_file(), &smallest_biased_float32_file()}) {
    expect_refused(*file, {
                              {kEncoder, [](ModelT& m) { m.features &= ~kFeatureRmsNorm; }},
                              {kDecoder,
                               [](ModelT& m) {
                                 m.features &= ~kFeatureRmsNorm;
                                 m.encoder->centred = true;
                               }},
                              {kEncoder, [](ModelT& m) { m.features &= ~kFeatureAttentionBias; }},
                              {kBias,
                               [](ModelT& m) {
                                 m.features &= ~kFeatureAttentionBias;
                                 m.encoder->positions_used = m.decoder->positions_used = true;
                                 m.encoder->max_positions = m.decoder->max_positions = 1;
                               }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).before = 2; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).after = 2; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).before = 1u << 20; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).after = UINT32_MAX; }},
                              {kBias, [](ModelT& m) { bias_of_decoder(m).before = 2; }},
                              {kBias, [](ModelT& m) { bias_of_decoder(m).after = 1; }},
                              {kBias, [](ModelT& m) { m.encoder->max_positions = 5; }},
                              {kBias, [](ModelT& m) { m.decoder->max_positions = 5; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = UINT32_MAX; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = end_of_positions(m); }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = end_of_positions(m) - 1; }},
                          });
  }
}

// Changes one value of the encoder's biases: 7 distances, then zeros up to 32.
Verdict with_bias(uint32_t column, float value) {
  return try_file(test::remade_with_contents(smallest_biased_file(), [&](ModelT& m, test::Contents& contents) {
    std::memcpy(&contents[2][bias_of_encoder(m).table * size_t{64} + column * sizeof value], &value, sizeof value);
  }));
}

TEST(Biases, ValuesOutOfRangeAndPaddingThatIsNotZeroAreRefused) {
  for (const uint32_t column : {0u, 3u, 6u}) {
    EXPECT_EQ(with_bias(column, -65536.0f).status, GOLDCREST_OK);
    for (const float bad : {65537.0f, 0x1p-61f, std::numeric_limits<float>::infinity(), std::nanf("")})
      EXPECT_EQ(with_bias(column, bad).detail, "layers.self_attention.bias") << bad;
  }
  for (const uint32_t column : {7u, 16u, 31u}) {
    EXPECT_EQ(with_bias(column, 1.0f).detail, "layers.self_attention.bias") << column;
    EXPECT_EQ(with_bias(column, 0.0f).status, GOLDCREST_OK) << column;
  }
}

TEST(Biases, TheBitsAloneChangeNothing) {
  const Verdict verdict =
      try_file(remade(smallest_file(), [](ModelT& m) { m.features = kFeatureRmsNorm | kFeatureAttentionBias; }));
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
}

TEST(Biases, EveryTruncationAndEveryFlippedBitIsRefused) {
  test::expect_damage_refused(smallest_biased_file());
  expect_flips_refused_or_run(smallest_biased_file());
}

}  // namespace
}  // namespace goldcrest
