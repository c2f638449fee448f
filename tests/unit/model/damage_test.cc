// SPDX-License-Identifier: Apache-2.0
// Damaged files: every truncation and every flipped bit is refused.
#include "base/crc32c.h"
#include "hostile_file.h"
#include "kernels/reference/reference.h"
#include "model/validate.h"
#include "support/guarded_buffer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr VerifyFunctions kFull = {crc32c, reference_weights_valid, true};

int validate(const uint8_t* file, size_t bytes, goldcrest_detail* detail = nullptr) {
  return validate_model(file, bytes, kFull, detail);
}

// Validates with these bits of a byte flipped, and flips them back.
int validate_flipped(FileImage& file, size_t byte, uint8_t bits, const VerifyFunctions& verify = kFull) {
  file.bytes()[byte] ^= bits;
  const int status = validate_model(file.bytes(), file.size(), verify, nullptr);
  file.bytes()[byte] ^= bits;
  return status;
}

TEST(Intact, TheFileIsAcceptedAndRuns) {
  EXPECT_EQ(validate(smallest_file().bytes(), smallest_file().size()), GOLDCREST_OK);
  expect_runs(smallest_file());
  expect_runs(remade(smallest_file(), nullptr));
}

TEST(Truncation, EveryLengthIsRefused) {
  const FileImage& file = smallest_file();
  for (size_t n = 0; n < file.size(); ++n) {
    goldcrest_detail detail = {};
    ASSERT_EQ(validate(file.bytes(), n, &detail), GOLDCREST_ERROR_MODEL_CORRUPT) << n;
    ASSERT_NE(detail.message, nullptr) << n;
  }
  // The cut-off bytes are unreadable.
  for (size_t n = 64; n < file.size(); n += 64) {
    GuardedBuffer<uint8_t> cut(n);
    std::memcpy(cut.get(), file.bytes(), n);
    ASSERT_EQ(validate(cut.get(), n), GOLDCREST_ERROR_MODEL_CORRUPT) << n;
    // The file is also refused if the trailer is there but belongs to a longer file.
    std::memcpy(cut.get() + n - 64, file.bytes() + file.size() - 64, 64);
    ASSERT_EQ(validate(cut.get(), n), GOLDCREST_ERROR_MODEL_CORRUPT) << n;
  }
}

TEST(Truncation, BytesBehindTheFileAreRefused) {
  const FileImage& file = smallest_file();
  FileImage longer(file.size() + 128);
  std::copy(file.span().begin(), file.span().end(), longer.bytes());
  for (size_t n = file.size() + 1; n <= longer.size(); ++n)
    ASSERT_EQ(validate(longer.bytes(), n), GOLDCREST_ERROR_MODEL_CORRUPT) << n;
}

TEST(Truncation, WhatIsNoFileAtAll) {
  const FileImage& file = smallest_file();
  goldcrest_detail detail = {};
  for (const size_t n : {0u, 63u, 64u, 127u}) {
    EXPECT_EQ(validate(file.bytes(), n, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_STREQ(detail.message, "file: too short to be a model") << n;
    EXPECT_EQ(detail.index, -1);
  }
  EXPECT_EQ(validate(file.bytes(), 128, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_STREQ(detail.message, "trailer: not found at the end of the file");
  EXPECT_EQ(detail.index, -1);
  EXPECT_EQ(validate(nullptr, file.size(), &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(validate(file.bytes() + 1, file.size() - 1, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "model: the pointer must be aligned to 64 bytes");
  EXPECT_EQ(detail.index, -1);
}

// A file whose trailer gives this number of bytes of metadata, with a right checksum.
FileImage with_metadata_bytes(uint32_t metadata_bytes) {
  FileImage file = smallest_file();
  uint8_t* const trailer = file.bytes() + file.size() - 64;
  std::memcpy(trailer + 12, &metadata_bytes, sizeof metadata_bytes);
  const uint32_t checksum = crc32c(0, trailer, 60);
  std::memcpy(trailer + 60, &checksum, sizeof checksum);
  return file;
}

TEST(Truncation, MetadataThatCannotLieInTheFileIsRefused) {
  for (const uint32_t metadata_bytes : {0u, 15u, static_cast<uint32_t>(smallest_file().size() - 63), UINT32_MAX}) {
    const FileImage file = with_metadata_bytes(metadata_bytes);
    goldcrest_detail detail = {};
    EXPECT_EQ(validate(file.bytes(), file.size(), &detail), GOLDCREST_ERROR_MODEL_CORRUPT) << metadata_bytes;
    EXPECT_STREQ(detail.message, "trailer: metadata size") << metadata_bytes;
    EXPECT_EQ(detail.index, -1);
  }
}

// For the smallest and the largest possible size the checksum of the contents is wrong.
TEST(Truncation, MetadataThatMightLieInTheFileIsLookedAt) {
  for (const uint32_t metadata_bytes : {16u, static_cast<uint32_t>(smallest_file().size() - 64)}) {
    const FileImage file = with_metadata_bytes(metadata_bytes);
    goldcrest_detail detail = {};
    EXPECT_EQ(validate(file.bytes(), file.size(), &detail), GOLDCREST_ERROR_MODEL_CORRUPT) << metadata_bytes;
    EXPECT_STREQ(detail.message, "metadata: checksum") << metadata_bytes;
  }
}

// Flips every bit of metadata, parameters, positions, tokenizer, padding and trailer.
TEST(BitFlip, EveryBitButTheWeights) {
  FileImage file = smallest_file();
  const format::Section* weights = format::GetModel(file.bytes())->sections()->Get(0);
  ASSERT_EQ(weights->kind(), format::SectionKind::Weights);
  const size_t begin = size_t{weights->offset()} * 64, end = begin + weights->size();
  for (size_t byte = 0; byte < file.size(); ++byte) {
    if (byte >= begin && byte < end) continue;
    for (int bit = 0; bit < 8; ++bit)
      ASSERT_LT(validate_flipped(file, byte, static_cast<uint8_t>(1 << bit)), 0) << "byte " << byte << ", bit " << bit;
  }
  EXPECT_EQ(validate(file.bytes(), file.size()), GOLDCREST_OK);
}

// Changes one number of the trailer, makes its checksum right, and validates without reading a section.
int with_trailer(size_t offset, uint64_t value, size_t bytes, goldcrest_detail* detail = nullptr) {
  static FileImage file = smallest_file();
  uint8_t* const trailer = file.bytes() + file.size() - 64;
  uint8_t original[64];
  std::memcpy(original, trailer, sizeof original);
  std::memcpy(trailer + offset, &value, bytes);
  const uint32_t checksum = crc32c(0, trailer, 60);
  std::memcpy(trailer + 60, &checksum, sizeof checksum);
  const int status = validate_model(file.bytes(), file.size(), {crc32c, nullptr, true, true}, detail);
  std::memcpy(trailer, original, sizeof original);
  return status;
}

TEST(Trailer, SaysWhatIsWrong) {
  goldcrest_detail detail = {};
  EXPECT_EQ(with_trailer(8, 7, 4, &detail), GOLDCREST_ERROR_MODEL_VERSION);
  EXPECT_STREQ(detail.message, "trailer: format version unknown to this engine");
  EXPECT_EQ(detail.index, 7);
  EXPECT_EQ(with_trailer(16, smallest_file().size() + 64, 8, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_STREQ(detail.message, "trailer: file size");
  EXPECT_EQ(detail.index, -1);
  for (const size_t at : {28u, 59u}) {
    EXPECT_EQ(with_trailer(at, 1, 1, &detail), GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_STREQ(detail.message, "trailer: reserved bytes") << at;
    EXPECT_EQ(detail.index, -1);
  }
}

TEST(Exhaustive, EveryTrailerWithOneOtherByte) {
  const uint8_t* const trailer = smallest_file().bytes() + smallest_file().size() - 64;
  for (size_t at = 0; at < 60; ++at)
    for (uint32_t value = 0; value < 256; ++value)
      ASSERT_EQ(with_trailer(at, value, 1) == GOLDCREST_OK, value == trailer[at]) << at << ": " << value;
}

TEST(Exhaustive, EveryNumberOfTheTrailerUpTo16Bits) {
  uint32_t metadata_bytes = 0;
  std::memcpy(&metadata_bytes, smallest_file().bytes() + smallest_file().size() - 64 + 12, sizeof metadata_bytes);
  ASSERT_LT(smallest_file().size(), 65536u);
  for (uint64_t value = 0; value < 65536; ++value) {
    ASSERT_EQ(with_trailer(8, value, 4) == GOLDCREST_OK, value == 1) << "format version " << value;
    ASSERT_EQ(with_trailer(12, value, 4) == GOLDCREST_OK, value == metadata_bytes) << "metadata bytes " << value;
    ASSERT_EQ(with_trailer(16, value, 8) == GOLDCREST_OK, value == smallest_file().size()) << "file bytes " << value;
  }
}

// goldcrest_model_info and the size queries read no section.
TEST(BitFlip, SectionsDoNotMatterToTheMetadata) {
  FileImage file = smallest_file();
  const VerifyFunctions metadata = {crc32c, nullptr, true, true};
  const size_t trailer = file.size() - 64;
  uint32_t metadata_bytes;
  std::memcpy(&metadata_bytes, file.bytes() + trailer + 12, sizeof metadata_bytes);
  for (size_t byte = 0; byte < file.size(); ++byte) {
    const bool matters = byte < metadata_bytes || byte >= trailer;
    ASSERT_EQ(validate_flipped(file, byte, 0xFF, metadata) < 0, matters) << "byte " << byte;
  }
}

TEST(BitFlip, WeightsAreFoundByFullVerification) {
  FileImage file = smallest_file();
  const format::Section* weights = format::GetModel(file.bytes())->sections()->Get(0);
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const size_t byte = size_t{weights->offset()} * 64 + rng.below(static_cast<uint32_t>(weights->size()));
    const auto mask = static_cast<uint8_t>(1 << rng.below(8));
    ASSERT_EQ(validate_flipped(file, byte, mask), GOLDCREST_ERROR_MODEL_CORRUPT) << byte;
    ASSERT_EQ(validate_flipped(file, byte, mask, {kFull.crc32c, nullptr, true}), GOLDCREST_OK)
        << "only the structure is intact";
  }
}

TEST(BitFlip, DamagedWeightsFailTheirChecksum) {
  FileImage file = smallest_file();
  const format::Section* weights = format::GetModel(file.bytes())->sections()->Get(0);
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const size_t byte = size_t{weights->offset()} * 64 + rng.below(static_cast<uint32_t>(weights->size()));
    file.bytes()[byte] ^= 1;
    goldcrest_detail detail = {};
    ASSERT_EQ(validate(file.bytes(), file.size(), &detail), GOLDCREST_ERROR_MODEL_CORRUPT) << byte;
    EXPECT_STREQ(detail.message, "sections: checksum") << byte;
    EXPECT_EQ(detail.index, 0) << byte;
    file.bytes()[byte] ^= 1;
  }
}

TEST(BitFlip, WithRightChecksumsItIsRefusedOrRuns) {
  expect_flips_refused_or_run(smallest_file(), {.seed = 2, .n = 4000, .anywhere = true});
}
}}  // namespace goldcrest::test
