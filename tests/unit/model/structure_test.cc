// SPDX-License-Identifier: Apache-2.0
// Compares the structure check with FlatBuffers' own verifier with the generated functions, on damaged metadata.
#include "model/structure.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "hostile_file.h"
#include "support/guarded_buffer.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using test::GuardedBuffer;
using test::smallest_file;

bool generated_check(const uint8_t* metadata, size_t n) {
  flatbuffers::Verifier verifier(metadata, n, 8, 8192);
  return verifier.VerifyBuffer<format::Model>(nullptr);
}

// Expects only scalars, strings, tables, and vectors of scalars or of tables.
void expect_known(const flatbuffers::TypeTable& type) {
  ASSERT_EQ(type.st, flatbuffers::ST_TABLE);
  for (size_t i = 0; i < type.num_elems; ++i) {
    const flatbuffers::TypeCode code = type.type_codes[i];
    EXPECT_NE(code.base_type, flatbuffers::ET_UTYPE) << i;
    EXPECT_FALSE(code.base_type == flatbuffers::ET_STRING && code.is_repeating != 0) << i;
    if (code.base_type == flatbuffers::ET_SEQUENCE) expect_known(*type.type_refs[code.sequence_ref]());
  }
}

TEST(Structure, TheSchemaHasNothingThatTheCheckDoesNotKnow) { expect_known(*format::ModelTypeTable()); }

TEST(Structure, EveryTruncationIsJudgedAsByTheGeneratedCheck) {
  const FileImage& file = smallest_file();
  const size_t metadata_bytes = format::GetModel(file.bytes())->sections()->Get(0)->offset() * 64;
  for (size_t n = 16; n <= metadata_bytes; ++n) {
    GuardedBuffer<uint8_t> cut((n + 63) / 64 * 64);
    std::memcpy(cut.get(), file.bytes(), n);
    ASSERT_EQ(metadata_is_sound(cut.get(), n), generated_check(cut.get(), n)) << "the first " << n << " bytes";
  }
}

TEST(Structure, EveryFlippedBitIsJudgedAsByTheGeneratedCheck) {
  const FileImage& file = smallest_file();
  const size_t n = format::GetModel(file.bytes())->sections()->Get(0)->offset() * 64;
  GuardedBuffer<uint8_t> metadata(n);
  std::memcpy(metadata.get(), file.bytes(), n);
  ASSERT_TRUE(metadata_is_sound(metadata.get(), n));
  ASSERT_TRUE(generated_check(metadata.get(), n));
  int refused = 0, accepted = 0;
  for (size_t bit = 0; bit < 8 * n; ++bit) {
    metadata[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    bool expected = generated_check(metadata.get(), n);
    // The generated check accepts a table of a vector at the place of its own offset, which is then zero.
    uint32_t word;
    std::memcpy(&word, metadata.get() + bit / 32 * 4, sizeof word);
    if (expected && word == 0 && !metadata_is_sound(metadata.get(), n)) expected = false;
    ASSERT_EQ(metadata_is_sound(metadata.get(), n), expected) << "byte " << bit / 8 << ", bit " << bit % 8;
    (expected ? accepted : refused) += 1;
    metadata[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}

// As many tables as the check allows, and one more.
TEST(Structure, TheNumberOfTablesIsJudgedAsByTheGeneratedCheck) {
  const auto judged = [](size_t n_lines) {
    const FileImage file = test::remade(smallest_file(), [&](format::ModelT& model) {
      model.self_test.clear();
      for (size_t i = 0; i < n_lines; ++i) model.self_test.push_back(std::make_unique<format::SelfTestLineT>());
    });
    uint32_t n = 0;
    std::memcpy(&n, file.bytes() + file.size() - 64 + 12, sizeof n);
    const bool expected = generated_check(file.bytes(), n);
    EXPECT_EQ(metadata_is_sound(file.bytes(), n), expected) << n_lines << " lines";
    return expected;
  };
  size_t fewest = 1, most = 8192;  // allowed; not allowed
  while (most - fewest > 1) {
    const size_t middle = (fewest + most) / 2;
    (judged(middle) ? fewest : most) = middle;
  }
  EXPECT_GT(fewest, 8000u);
}

}  // namespace
}  // namespace goldcrest
