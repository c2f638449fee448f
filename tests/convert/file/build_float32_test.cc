// SPDX-License-Identifier: Apache-2.0
// A file with float32 weights holds the checkpoint's numbers, bit for bit, at the places that FORMAT.md gives them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "convert/support/section_bytes.h"
#include "file/build.h"
#include "file/relayout.h"
#include "file/write.h"
#include "model_generated.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

Payload float32_payload(const ModelSpec& spec) {
  BuildOptions options;
  options.weights = Weights::kFloat32;
  return build_payload(spec, options);
}

// Returns element [row, column] of a matrix at `units` of the section Weights; `columns` includes the padding.
float weight(const Payload& payload, uint32_t units, uint32_t columns, uint32_t row, uint32_t column) {
  float value = 0;
  const size_t offset = units * size_t{64} + 4 * (size_t{row} * columns + column);
  std::memcpy(&value, &test::section_bytes(payload.sections[0]).at(offset), sizeof value);
  return value;
}

void expect_stored(const Payload& payload, uint32_t units, const Matrix& matrix) {
  const uint32_t columns = pad16(matrix.columns);
  for (uint32_t r = 0; r < pad16(matrix.rows); ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      const bool padding = r >= matrix.rows || c >= matrix.columns;
      ASSERT_EQ(weight(payload, units, columns, r, c), padding ? 0.0f : matrix.row(r)[c]) << matrix.name;
    }
  }
}

TEST(BuildFloat32, MatricesAreTheCheckpoints) {
  const ModelSpec spec = test::random_spec(3);
  const Payload payload = float32_payload(spec);
  EXPECT_EQ(payload.metadata->features, 1u);
  expect_stored(payload, payload.metadata->encoder->embedding->weights, *spec.encoder.embedding);
  expect_stored(payload, payload.metadata->projection->weights, *spec.projection.weight);
  const auto& layer = *payload.metadata->encoder->layers[0];
  expect_stored(payload, layer.feed_forward->in->weights, *spec.encoder.layers[0].feed_forward.in.weight);
  EXPECT_EQ(layer.feed_forward->in->scale, 0u);
  EXPECT_EQ(layer.feed_forward->in->weight_sum, 0u);
  EXPECT_EQ(layer.feed_forward->in->layout, format::Layout::RowMajor);
}

// FORMAT.md, "Heads": row i of a part with heads of d is row (i / d) * d_head + i % d; the columns of `out` likewise.
TEST(BuildFloat32, HeadsArePaddedOneByOne) {
  const ModelSpec spec = test::random_spec(3);
  const Payload payload = float32_payload(spec);
  const uint32_t d = spec.decoder.d_head, padded = pad16(d), width = spec.decoder.n_heads * padded;
  const AttentionSpec& cross = *spec.decoder.layers[1].cross_attention;
  const format::CrossAttentionT& stored = *payload.metadata->decoder->layers[1]->cross_attention;
  const uint32_t columns = pad16(spec.encoder.d_model);
  for (uint32_t i = 0; i < spec.decoder.n_heads * d; ++i) {
    const uint32_t place = i / d * padded + i % d;
    for (uint32_t c = 0; c < spec.encoder.d_model; ++c) {
      ASSERT_EQ(weight(payload, stored.key_value->weights, columns, place, c), cross.key.weight->row(i)[c]);
      ASSERT_EQ(weight(payload, stored.key_value->weights, columns, width + place, c), cross.value.weight->row(i)[c]);
    }
    for (uint32_t r = 0; r < spec.decoder.d_model; ++r) {
      ASSERT_EQ(weight(payload, stored.out->weights, width, r, place), cross.out.weight->row(r)[i]);
    }
  }
}

TEST(BuildFloat32, WeightsThatTheKernelsCannotTakeAreRefusedOrZero) {
  ModelSpec spec = test::random_spec(3);
  auto matrix = std::make_shared<Matrix>(*spec.encoder.layers[0].feed_forward.in.weight);
  matrix->values.edit()[3] = std::ldexp(1.0f, -61);
  spec.encoder.layers[0].feed_forward.in.weight = matrix;
  const Payload payload = float32_payload(spec);
  const uint32_t units = payload.metadata->encoder->layers[0]->feed_forward->in->weights;
  EXPECT_EQ(weight(payload, units, pad16(matrix->columns), 0, 3), 0.0f);
  matrix->values.edit()[matrix->columns + 2] = 65537.0f;
  test::expect_error([&] { float32_payload(spec); }, {"'encoder.layers.0.in'", "row 1", "element 2", "65537", "65536"});
}

// A float32 file is the same for every processor, and its hash is that of its weights.
TEST(BuildFloat32, AnotherProcessorChangesNothing) {
  const FileImage image = assemble(float32_payload(test::random_spec(3)), {});
  const FileImage again = relay_out(image, Layout::kN4K16, "a.gcst");
  ASSERT_EQ(again.size(), image.size());
  EXPECT_EQ(std::memcmp(again.bytes(), image.bytes(), image.size()), 0);
}

}  // namespace
}  // namespace goldcrest::converter
