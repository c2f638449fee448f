// SPDX-License-Identifier: Apache-2.0
// Files whose stacks make choices that need a feature bit: gates. Choices with and without the bit, wrong values,
// damage.
#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace goldcrest
