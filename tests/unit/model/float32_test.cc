// SPDX-License-Identifier: Apache-2.0
// Files with float32 weights: accepted if they are sound, refused by the name of a wrong part, and refused by builds
// that cannot run them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/crc32c.h"
#include "hostile_file.h"
#include "kernels/reference/reference.h"
#include "model/validate.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using format::ModelT;
using test::remade;
using test::smallest_file;
using test::smallest_float32_file;
using test::try_file;
using test::Verdict;

TEST(Float32, TheFileIsAcceptedAndRuns) {
  const Verdict verdict = try_file(smallest_float32_file());
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
  goldcrest_info info, int8;
  ASSERT_EQ(goldcrest_model_info(smallest_float32_file().bytes(), smallest_float32_file().size(), &info, nullptr), 0);
  ASSERT_EQ(goldcrest_model_info(smallest_file().bytes(), smallest_file().size(), &int8, nullptr), 0);
  EXPECT_EQ(info.weight_bits, 32u);
  EXPECT_EQ(int8.weight_bits, 8u);
  EXPECT_NE(info.weights_hash, int8.weights_hash);
}

TEST(Float32, ABuildWithoutItsKernelsSaysSo) {
  const VerifyFunctions without = {crc32c, reference_weights_valid, false};
  const FileImage& file = smallest_float32_file();
  goldcrest_detail detail = {};
  EXPECT_EQ(validate_model(file.bytes(), file.size(), without, &detail), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(detail.message,
               "metadata: float32 weights, which this build cannot run; convert the model without --weights float32");
  EXPECT_EQ(detail.index, -1);
  EXPECT_EQ(validate_model(smallest_file().bytes(), smallest_file().size(), without, &detail), GOLDCREST_OK);
}

TEST(Float32, LiesAreRefusedByName) {
  const auto of_layer = [](ModelT& m) -> format::LinearT& { return *m.decoder->layers[0]->cross_attention->key_value; };
  test::expect_refused(
      smallest_float32_file(),
      {
          {"encoder.embedding", [](ModelT& m) { m.encoder->embedding->layout = format::Layout::N16K4; }},
          {"decoder.embedding", [](ModelT& m) { m.decoder->embedding->scale = 1; }},
          {"decoder.embedding", [](ModelT& m) { m.decoder->embedding->weights = UINT32_MAX; }},
          {"projection", [](ModelT& m) { m.projection->layout = format::Layout::N4K16; }},
          {"layers.cross_attention.key_value", [&](ModelT& m) { of_layer(m).scale = 1; }},
          {"layers.cross_attention.key_value", [&](ModelT& m) { of_layer(m).weight_sum = 1; }},
          {"layers.cross_attention.key_value", [&](ModelT& m) { of_layer(m).weights += 1000; }},
          {"layers.cross_attention.key_value", [&](ModelT& m) { of_layer(m).bias = UINT32_MAX; }},
          {"projection", [](ModelT& m) { m.features = 0; }},
      });
  const Verdict verdict = try_file(remade(smallest_file(), [](ModelT& m) { m.features = 1; }));
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << "int8 weights that are called float32";
}

// Full verification refuses weights that could make an infinity or a denormal, at every place of a matrix.
TEST(Float32, WeightsOutOfRangeAreRefused) {
  const FileImage& file = smallest_float32_file();
  const format::Model& model = *format::GetModel(file.bytes());
  const size_t section = model.sections()->Get(0)->offset() * size_t{64};
  const size_t weights = section + model.encoder()->layers()->Get(0)->feed_forward()->in()->weights() * size_t{64};
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const VerifyFunctions structure = {crc32c, nullptr, true};
  for (const float bad : {nan, -nan, infinity, -infinity, 65537.0f, -1e30f, std::ldexp(1.0f, -61), 1e-40f}) {
    for (const size_t at : {size_t{0}, size_t{100}, size_t{255}}) {
      FileImage changed(file.size());
      std::memcpy(changed.bytes(), file.bytes(), file.size());
      std::memcpy(changed.bytes() + weights + 4 * at, &bad, sizeof bad);
      EXPECT_EQ(try_file(changed).detail, "sections: checksum");
      test::repair_checksums(changed);
      const Verdict verdict = try_file(changed);
      EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << bad;
      EXPECT_EQ(verdict.detail, "layers.feed_forward.in");
      EXPECT_EQ(validate_model(changed.bytes(), changed.size(), structure, nullptr), GOLDCREST_OK)
          << "the weights are not read";
    }
  }
}

// All weights have the largest allowed value: sums and rows grow, and the search still ends as it should.
TEST(Float32, TheLargestWeightsRun) {
  FileImage file(smallest_float32_file().size());
  std::memcpy(file.bytes(), smallest_float32_file().bytes(), file.size());
  const format::Section& weights = *format::GetModel(file.bytes())->sections()->Get(0);
  std::vector<float> largest(weights.size() / sizeof(float));
  for (size_t i = 0; i < largest.size(); ++i) largest[i] = i % 3 == 0 ? -65536.0f : 65536.0f;
  std::memcpy(file.bytes() + weights.offset() * size_t{64}, largest.data(), weights.size());
  test::repair_checksums(file);
  const Verdict verdict = try_file(file);
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
}

}  // namespace
}  // namespace goldcrest
