// SPDX-License-Identifier: Apache-2.0
// Weights and tables that are checked in several pieces, or element by element: a bad value in any place is found.
#include "base/crc32c.h"
#include "goldcrest/tokens.h"
#include "hostile_file.h"
#include "kernels/reference/reference.h"
#include "model/validate.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using format::SectionKind;

// Products of n and k beyond a piece's 65,536 bytes, in widths that do not divide it; and k beyond 4,096.
const FileImage& large_file(converter::Weights weights) {
  const auto make = [](converter::Weights kind) {
    TinyOptions options = {.encoder = {.d_ff = 4100}, .decoder = {.d_model = 40}, .target_vocab_size = 2100};
    return tiny_file(tiny_spec(options), Layout::kN16K4, {}, kind);
  };
  static const FileImage int8 = make(converter::Weights::kInt8), float32 = make(converter::Weights::kFloat32);
  return weights == converter::Weights::kInt8 ? int8 : float32;
}

template <typename Value> struct Change {
  SectionKind section;
  uint32_t units;
  uint64_t element;
  Value value;
};

template <typename Value> FileImage with_change(const FileImage& original, const Change<Value>& change) {
  FileImage file = original;
  const auto* const section = format::GetModel(file.bytes())->sections()->Get(static_cast<uint32_t>(change.section));
  const size_t at = (size_t{section->offset()} + change.units) * 64 + change.element * sizeof(Value);
  std::memcpy(file.bytes() + at, &change.value, sizeof(Value));
  repair_checksums(file);
  return file;
}

template <typename Value> Verdict with_value(const FileImage& original, const Change<Value>& change) {
  return try_file(with_change(original, change));
}

template <typename Value> void expect_found(const FileImage& file, const Change<Value>& change, const char* name) {
  const Verdict verdict = with_value(file, change);
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << name << ", element " << change.element;
  EXPECT_EQ(verdict.detail, name) << "element " << change.element;
}

TEST(Pieces, Int8Weights) {
  const FileImage& file = large_file(converter::Weights::kInt8);
  const Verdict whole = try_file(file);
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
    expect_found<int32_t>(
        file, {SectionKind::Parameters, model.projection()->weight_sum(), row, 1 << 20}, "projection");
  const format::Linear& wide = *model.encoder()->layers()->Get(0)->feed_forward()->out();  // pieces of 16 rows
  for (const uint64_t row : {0, 15, 16, 31})
    expect_found<int32_t>(file, {SectionKind::Parameters, wide.weight_sum(), row, 1 << 20}, "layers.feed_forward.out");
}

TEST(Pieces, Float32Weights) {
  const FileImage& file = large_file(converter::Weights::kFloat32);
  const Verdict whole = try_file(file);
  ASSERT_EQ(whole.status, GOLDCREST_OK) << whole.detail;
  const uint32_t projection = format::GetModel(file.bytes())->projection()->weights();
  for (const uint64_t at : {0, 16383, 16384, 5 * 16384, 2112 * 48 - 1})  // pieces of 16,384
    expect_found<float>(file, {SectionKind::Weights, projection, at, 1e30f}, "projection");
}

// Ids of bytes, which the smallest file lacks: they are the last array of their section, and other bytes follow them.
TEST(Pieces, ByteIds) {
  const auto with_ids = [](size_t i, uint32_t id) {
    return try_file(remade_with_contents(smallest_file(), [&](ModelT& m, Contents& contents) {
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
  const FileImage& file = smallest_file();
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

// Programs ask for texts before an engine has checked the tables.
TEST(Pieces, TokensHaveTheirTextsOrNone) {
  const FileImage& file = smallest_file();
  const format::Detokenizer& detokenizer = *format::GetModel(file.bytes())->detokenizer();
  std::vector<goldcrest_token> tokens;
  const auto list = [&tokens](const FileImage& of, goldcrest_detail* detail) {
    tokens.clear();
    const auto add = [](void* context, const goldcrest_token* token) {
      static_cast<std::vector<goldcrest_token>*>(context)->push_back(*token);
    };
    return goldcrest_target_tokens(of.bytes(), of.size(), add, &tokens, detail);
  };
  ASSERT_EQ(list(file, nullptr), static_cast<int>(detokenizer.n_pieces()));
  ASSERT_EQ(tokens.size(), detokenizer.n_pieces());
  size_t text_bytes = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].id, static_cast<int32_t>(i));
    EXPECT_EQ(tokens[i].text, tokens[0].text + text_bytes);
    text_bytes += tokens[i].text_bytes;
  }
  EXPECT_EQ(text_bytes, detokenizer.text_bytes());
  for (uint32_t i = 1; i <= detokenizer.n_pieces(); ++i) {
    goldcrest_detail detail = {"", -1};
    const FileImage bad = with_change<uint32_t>(
        file, {SectionKind::Tokenizer, detokenizer.text_offset(), i, detokenizer.text_bytes() + 1});
    EXPECT_EQ(list(bad, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_EQ(detail.index, static_cast<int32_t>(i - 1));
    EXPECT_EQ(tokens.size(), i - 1);
  }
}

// Files with float32 weights: accepted if they are sound, refused by the name of a wrong part, and refused by builds
// that cannot run them.

TEST(Float32, TheFileIsAcceptedAndRuns) {
  expect_runs(smallest_float32_file());
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
  EXPECT_STREQ(detail.message, "float32 weights, which this build cannot run; convert without --weights float32");
  EXPECT_EQ(detail.index, -1);
  EXPECT_EQ(validate_model(smallest_file().bytes(), smallest_file().size(), without, &detail), GOLDCREST_OK);
}

TEST(Float32, LiesAreRefusedByName) {
  const auto of_layer = [](ModelT& m) -> format::LinearT& { return *m.decoder->layers[0]->cross_attention->key_value; };
  expect_refused(smallest_float32_file(),
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
      repair_checksums(changed);
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
  repair_checksums(file);
  expect_runs(file);
}
}}  // namespace goldcrest::test
