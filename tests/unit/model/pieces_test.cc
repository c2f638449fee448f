// SPDX-License-Identifier: Apache-2.0
// Weights and tables that are checked in several pieces, or element by element: a bad value in any place is found.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "hostile_file.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using format::ModelT;
using format::SectionKind;
using test::Verdict;

// Products of n and k beyond a piece's 65,536 bytes, in widths that do not divide it; and k beyond 4,096.
const FileImage& large_file(converter::Weights weights) {
  const auto make = [](converter::Weights kind) {
    test::TinyOptions options;
    options.encoder.d_ff = 4100;
    options.decoder.d_model = 40;
    options.target_vocab_size = 2100;
    return test::tiny_file(test::tiny_spec(options), Layout::kN16K4, {}, kind);
  };
  static const FileImage int8 = make(converter::Weights::kInt8), float32 = make(converter::Weights::kFloat32);
  return weights == converter::Weights::kInt8 ? int8 : float32;
}

template <typename Value>
struct Change {
  SectionKind section;
  uint32_t units;
  uint64_t element;
  Value value;
};

template <typename Value>
Verdict with_value(const FileImage& original, const Change<Value>& change) {
  FileImage file = original;
  const auto* const section = format::GetModel(file.bytes())->sections()->Get(static_cast<uint32_t>(change.section));
  const size_t at = (size_t{section->offset()} + change.units) * 64 + change.element * sizeof(Value);
  std::memcpy(file.bytes() + at, &change.value, sizeof(Value));
  test::repair_checksums(file);
  return test::try_file(file);
}

template <typename Value>
void expect_found(const FileImage& file, const Change<Value>& change, const char* name) {
  const Verdict verdict = with_value(file, change);
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << name << ", element " << change.element;
  EXPECT_EQ(verdict.detail, name) << "element " << change.element;
}

TEST(Pieces, Int8Weights) {
  const FileImage& file = large_file(converter::Weights::kInt8);
  const Verdict whole = test::try_file(file);
  ASSERT_EQ(whole.status, GOLDCREST_OK) << whole.detail;
  const format::Model& model = *format::GetModel(file.bytes());
  const uint32_t projection = model.projection()->weights(), table = model.decoder()->embedding()->weights();
  ASSERT_NE(projection, table);
  const uint64_t k = 48, n = 2112;  // pieces of 1,360 rows
  for (const uint64_t at : {uint64_t{0}, 1360 * k - 1, 1360 * k, n * k - 1}) {
    expect_found<int8_t>(file, {SectionKind::Weights, projection, at, -128}, "projection");
    expect_found<int8_t>(file, {SectionKind::Weights, table, at, -128}, "decoder.embedding");
  }
  for (const uint64_t row : {0, 1359, 1360, 2111})
    expect_found<int32_t>(file, {SectionKind::Parameters, model.projection()->weight_sum(), row, 1 << 20},
                          "projection");
  const format::Linear& wide = *model.encoder()->layers()->Get(0)->feed_forward()->out();  // pieces of 16 rows
  for (const uint64_t row : {0, 15, 16, 31})
    expect_found<int32_t>(file, {SectionKind::Parameters, wide.weight_sum(), row, 1 << 20}, "layers.feed_forward.out");
}

TEST(Pieces, Float32Weights) {
  const FileImage& file = large_file(converter::Weights::kFloat32);
  const Verdict whole = test::try_file(file);
  ASSERT_EQ(whole.status, GOLDCREST_OK) << whole.detail;
  const uint32_t projection = format::GetModel(file.bytes())->projection()->weights();
  for (const uint64_t at : {0, 16383, 16384, 5 * 16384, 2112 * 48 - 1})  // pieces of 16,384
    expect_found<float>(file, {SectionKind::Weights, projection, at, 1e30f}, "projection");
}

// Ids of bytes, which the smallest file lacks: they are the last array of their section, and other bytes follow them.
TEST(Pieces, ByteIds) {
  const auto with_ids = [](size_t i, uint32_t id) {
    return test::try_file(test::remade_with_contents(test::smallest_file(), [&](ModelT& m, test::Contents& contents) {
      std::vector<uint8_t>& section = contents[static_cast<size_t>(SectionKind::Tokenizer)];
      std::vector<uint32_t> ids(257, 5);
      ids[256] = UINT32_MAX;
      ids[i] = id;
      const size_t start = static_cast<size_t>(align_bytes(section.size()));
      section.resize(start + 4 * ids.size());
      std::memcpy(section.data() + start, ids.data(), 4 * ids.size());
      m.tokenizer->byte_fallback = true;
      m.tokenizer->byte_ids = static_cast<uint32_t>(start / 64);
    }));
  };
  EXPECT_EQ(with_ids(0, 0).status, GOLDCREST_OK);
  for (const size_t i : {0, 1, 254, 255}) EXPECT_EQ(with_ids(i, 6).detail, "tokenizer.byte_ids") << i;
}

TEST(Pieces, ScoresAndOffsets) {
  const FileImage& file = test::smallest_file();
  const format::Tokenizer& tokenizer = *format::GetModel(file.bytes())->tokenizer();
  const format::Detokenizer& detokenizer = *format::GetModel(file.bytes())->detokenizer();
  const uint64_t n = detokenizer.n_pieces();
  for (const uint64_t i : {uint64_t{0}, uint64_t{tokenizer.n_pieces()} - 1}) {
    EXPECT_EQ(with_value<float>(file, {SectionKind::Tokenizer, tokenizer.score(), i, 1e9f}).detail, "");
    expect_found<float>(file, {SectionKind::Tokenizer, tokenizer.score(), i, -1.1e9f}, "tokenizer.score");
  }
  for (uint64_t i = 0; i <= n; ++i)
    expect_found<uint32_t>(file, {SectionKind::Tokenizer, detokenizer.text_offset(), i, detokenizer.text_bytes() + 1},
                           "detokenizer.text_offset");
  expect_found<uint32_t>(file, {SectionKind::Tokenizer, detokenizer.text_offset(), n, 0}, "detokenizer.text_offset");
}

}  // namespace
}  // namespace goldcrest
