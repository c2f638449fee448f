// SPDX-License-Identifier: Apache-2.0
// The contents that the reader takes from a model file, and its messages about other files.
#include "tokenizers/sentencepiece_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "spec/error.h"
#include "tokenizers/charsmap.h"
#include "tokenizers/double_array_builder.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
namespace {

using converter::Error;
using converter::TokenizerKind;
using converter::TokenizerSpec;

TokenizerSpec read_model(const std::string& name) {
  return converter::read_sentencepiece_model(source_path("tests/data/" + name + ".model"));
}

std::string message_of(const std::string& bytes) {
  try {
    converter::parse_sentencepiece_model(bytes, "m.spm");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (message.find(part) == std::string::npos) return testing::AssertionFailure() << message << "\nlacks: " << part;
  }
  return testing::AssertionSuccess();
}

// Builds messages shorter than 128 bytes by hand: a tag byte, a length byte, the bytes.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) + bytes;
}
std::string piece(const std::string& text, char type) { return field(1, field(1, text) + "\x18" + type); }
const std::string kEnd = field(2, "") + field(3, "");

TEST(SentencePieceModel, HasTheSettingsItWasTrainedWith) {
  const TokenizerSpec suffix = read_model("unigram_rules");
  EXPECT_EQ(suffix.kind, TokenizerKind::kUnigram);
  EXPECT_TRUE(suffix.whitespace_as_suffix);
  EXPECT_FALSE(suffix.byte_fallback);
  EXPECT_TRUE(suffix.add_dummy_prefix && suffix.remove_extra_whitespace && suffix.escape_whitespace);
  EXPECT_FALSE(suffix.precompiled_charsmap.empty());
  EXPECT_EQ(suffix.vocab_size, 600u);
  EXPECT_EQ(suffix.pieces.size(), 600u);
  EXPECT_EQ(suffix.pieces[suffix.unknown_id].text, "<unk>");
  EXPECT_EQ(suffix.unknown_surface, " \u2047 ");

  const TokenizerSpec bytes = read_model("unigram_bytes");
  EXPECT_TRUE(bytes.byte_fallback);
  EXPECT_FALSE(bytes.remove_extra_whitespace);
  EXPECT_TRUE(bytes.precompiled_charsmap.empty());

  EXPECT_EQ(read_model("bpe_rules").kind, TokenizerKind::kBpe);
  EXPECT_EQ(read_model("char").kind, TokenizerKind::kBpe);
  EXPECT_FALSE(read_model("char").add_dummy_prefix);
}

TEST(SentencePieceModel, RefusesAnyTruncatedFile) {
  const std::string bytes = read_bytes(source_path("tests/data/char.model"));
  for (size_t n = 0; n < bytes.size(); ++n) {
    const std::string message = message_of(bytes.substr(0, n));
    EXPECT_TRUE(says(message, {"m.spm: "})) << n;
    EXPECT_TRUE(n <= 40 || says(message, {"truncated"})) << message;
  }
}

TEST(SentencePieceModel, RefusesDamage) {
  const std::string unknown = piece("<unk>", 2);
  EXPECT_EQ(message_of(unknown + piece("a", 1) + kEnd), "no error");
  EXPECT_TRUE(says(message_of(kEnd), {"no pieces"}));
  EXPECT_TRUE(says(message_of(unknown + field(2, "")), {"normalizer_spec is missing", "download"}));
  EXPECT_TRUE(says(message_of(unknown + piece("", 1) + kEnd), {"piece 1 has no text"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 1) + piece("a", 1) + kEnd), {"\"a\" occurs twice"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 9) + kEnd), {"piece 1 has the type 9"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a\xFF", 1) + kEnd), {"piece 1", "not UTF-8"}));
  EXPECT_TRUE(says(message_of(piece("a", 1) + kEnd), {"0 pieces are of the type unknown"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 5) + kEnd), {"none of 2 pieces"}));
  EXPECT_TRUE(says(message_of(unknown + piece("<0xzz>", 6) + kEnd), {"<0xzz>", "<0x00> to <0xFF>"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 1) + field(2, "\x98\x02\x01") + field(3, "")),
                   {"byte_fallback", "<0x00> is missing"}));
  EXPECT_TRUE(says(message_of(unknown + field(1, field(1, "a") + "\x15\x01\x02\x80\x7f") + kEnd),
                   {"piece 1, \"a\"", "score", "expected a number"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 1) + field(2, "\x18\x03") + field(3, "")), {"whole words"}));
  EXPECT_TRUE(says(message_of(unknown + piece("a", 1) + field(2, "\x18\x07") + field(3, "")), {"model_type is 7"}));
  EXPECT_TRUE(
      says(message_of(unknown + piece("ab", 1) + field(2, "\x18\x04") + field(3, "")), {"\"ab\"", "character"}));
  EXPECT_TRUE(says(message_of(unknown + kEnd + field(5, field(2, "abcdefgh"))), {"denormalizer"}));
  const std::string charsmap = std::string("\x08\0\0\0", 4) + std::string(9, 'x');
  EXPECT_TRUE(says(message_of(unknown + field(2, "") + field(3, field(2, charsmap))), {"precompiled_charsmap"}));
  EXPECT_TRUE(says(message_of("PK\x03\x04 a zip"), {"m.spm"}));
}

// A rule from `from` to `to`, as a blob.
std::string charsmap_of(const std::string& from, const std::string& to) {
  const std::vector<uint32_t> trie = converter::build_double_array({{from, 0}});
  const uint32_t n_bytes = static_cast<uint32_t>(4 * trie.size());
  std::string blob(reinterpret_cast<const char*>(&n_bytes), 4);
  blob.append(reinterpret_cast<const char*>(trie.data()), n_bytes);
  return blob + to + '\0';
}

std::string message_of_rules(const std::string& blob) {
  try {
    converter::split_charsmap(blob, "m.spm");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SentencePieceModel, RefusesRulesWithoutEnd) {
  const std::string rules = "m.spm: normalizer_spec.precompiled_charsmap: a rule";
  EXPECT_EQ(message_of_rules(charsmap_of(std::string(128, 'a'), std::string(128, 'b'))), "no error");
  EXPECT_EQ(message_of_rules(charsmap_of("a", std::string(129, ' '))), rules + "'s text has more than 128 bytes");
  const std::string too_long = rules + " is for more than 128 bytes of text, or for no end of them";
  EXPECT_EQ(message_of_rules(charsmap_of(std::string(129, 'a'), "b")), too_long);
  std::vector<uint32_t> cycle(512);
  cycle[0] = 256u << 10;
  cycle[256 ^ 'a'] = 'a' | uint32_t{'a'} << 10;
  std::string blob("\0\x08\0\0", 4);
  blob.append(reinterpret_cast<const char*>(cycle.data()), 2048);
  EXPECT_EQ(message_of_rules(blob + '\0'), too_long);
}

TEST(SentencePieceModel, SaysWhatAFileIsThatIsNoModel) {
  const auto message_of_file = [](const std::string& content) -> std::string {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "stand_in.spm";
    std::ofstream(path, std::ios::binary) << content;
    std::string message = "no error";
    try {
      converter::read_sentencepiece_model(path);
    } catch (const Error& error) {
      message = error.what();
    }
    std::filesystem::remove(path);
    return message;
  };
  EXPECT_TRUE(says(message_of_file(""), {"stand_in.spm", "empty"}));
  EXPECT_TRUE(says(message_of_file("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"),
                   {"stand_in.spm", "Git LFS"}));
  EXPECT_TRUE(says(message_of_file("<!DOCTYPE html><html>404</html>"), {"stand_in.spm", "page"}));
  EXPECT_THROW(converter::read_sentencepiece_model("no/such.spm"), Error);
}

// Changes every byte of a small model in several ways: an Error or a model, never a crash.
TEST(SentencePieceModel, SurvivesDamageAnywhere) {
  const std::string bytes = read_bytes(source_path("tests/data/char.model"));
  size_t n_refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int change : {1, 8, 128, 255}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      n_refused += message_of(damaged) != "no error";
    }
  }
  EXPECT_GT(n_refused, 500u);
}

}  // namespace
}  // namespace goldcrest::test
