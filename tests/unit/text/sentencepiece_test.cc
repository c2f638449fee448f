// SPDX-License-Identifier: Apache-2.0
// The contents that the reader takes from a model file, and its messages about other files.
#include <sentencepiece_processor.h>
#include <bit>
#include <random>
#include <unordered_map>
#include "host/printable.h"
#include "spec/trim_vocabulary.h"
#include "support/expect_error.h"
#include "tokenizers/charsmap.h"
#include "tokenizers/double_array_builder.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
using converter::Error;
using converter::TokenizerKind;
using converter::TokenizerSpec;

TokenizerSpec read_model(const std::string& name) {
  return converter::read_sentencepiece_model(source_path("tests/data/" + name + ".model"));
}

std::string message_of(const std::string& bytes) {
  return error_of([&] { converter::parse_sentencepiece_model(bytes, "m.spm"); });
}

testing::AssertionResult says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (message.find(part) == std::string::npos) return testing::AssertionFailure() << message << "\nlacks: " << part;
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
  return error_of([&] { converter::split_charsmap(blob, "m.spm"); });
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
    const std::string message = error_of([&] { converter::read_sentencepiece_model(path); });
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

// Ids and text equal libsentencepiece's, on every line of the data, on hostile Unicode and on random bytes.

using converter::PieceType;
using converter::TokenizerSpec;

std::unique_ptr<sentencepiece::SentencePieceProcessor> load_processor(const std::string& model) {
  auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
  const auto status = processor->LoadFromSerializedProto(model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return processor;
}

std::vector<int32_t> reference_ids(const sentencepiece::SentencePieceProcessor& processor, const std::string& line) {
  std::vector<int> ids;
  EXPECT_TRUE(processor.Encode(line, &ids).ok());
  return {ids.begin(), ids.end()};
}

// Compares ids, and the text of these ids.
void expect_equal_on_all_lines(const std::string& model, const std::string& name) {
  const auto processor = load_processor(model);
  const TestTokenizer tokenizer(converter::parse_sentencepiece_model(model, name));
  for (const std::string& line : all_lines()) {
    const std::vector<int32_t> expected = reference_ids(*processor, line);
    ASSERT_EQ(tokenizer.encode(line), expected) << name << ": " << shown(line);
    std::string text;
    ASSERT_TRUE(processor->Decode(std::vector<int>(expected.begin(), expected.end()), &text).ok());
    ASSERT_EQ(tokenizer.decode(expected), text) << name << ": " << shown(line);
  }
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  return bytes + static_cast<char>(value);
}

// Marks some of the model's normal pieces as unused: in a message the last of several types counts.
template <typename Choose> std::string with_unused_pieces(const std::string& model, Choose choose) {
  const std::vector<converter::Piece> pieces = converter::parse_sentencepiece_model(model, "model").pieces;
  std::string changed;
  size_t id = 0;
  converter::ProtobufReader reader(model, "model");
  for (converter::ProtobufField field; reader.next(&field);) {
    std::string message(field.as_bytes("model"));
    if (field.number == 1 && pieces[id++].type == PieceType::kNormal && choose()) message += "\x18\x05";
    changed += varint(field.number << 3 | 2) + varint(message.size()) + message;
  }
  return changed;
}

class SmallModel : public testing::TestWithParam<const char*> {
 protected:
  std::string bytes() const { return read_bytes(source_path(std::string("tests/data/") + GetParam() + ".model")); }
};

TEST_P(SmallModel, GivesSentencePiecesIdsAndText) { expect_equal_on_all_lines(bytes(), GetParam()); }

TEST_P(SmallModel, GivesSentencePiecesIdsWithUnusedPieces) {
  for (const uint32_t one_in : {2, 3, 10}) {
    std::mt19937 generator(one_in);
    const std::string model = with_unused_pieces(bytes(), [&] { return generator() % one_in == 0; });
    size_t n_unused = 0;
    for (const converter::Piece& piece : converter::parse_sentencepiece_model(model, GetParam()).pieces)
      n_unused += piece.type == PieceType::kUnused;
    ASSERT_GT(n_unused, 2u);
    expect_equal_on_all_lines(model, GetParam());
  }
}

// A piece removed from a unigram vocabulary is never produced, as SentencePiece's unused pieces. In byte-pair encoding
// merges go with their results, except on the way to a kept piece, so lines of kept pieces are cut as before.
// Characters stay; SentencePiece produces even unused ones.
TEST_P(SmallModel, ATrimmedVocabularyCutsIntoWhatIsKept) {
  const TokenizerSpec whole = converter::parse_sentencepiece_model(bytes(), GetParam());
  const bool merges = whole.kind == converter::TokenizerKind::kBpe;
  size_t compared = 0;
  for (const uint32_t one_in : {2, 3, 10}) {
    std::mt19937 generator(one_in);
    const converter::ModelSpec spec = tokenizer_only(whole);
    converter::KeptIds wanted;
    for (uint32_t id = 0; id < whole.vocab_size; ++id) {
      const std::string& text = whole.pieces[id].text;
      const bool is_character = utf8_length(text) == text.size();
      if (is_character || generator() % one_in != 0) wanted.source.push_back(id);
    }
    const std::vector<uint32_t> kept = converter::with_needed_ids(spec, wanted).source;
    const auto is_kept = [&](int32_t id) { return std::ranges::binary_search(kept, static_cast<uint32_t>(id)); };
    std::vector<bool> stays;  // whether each normal piece stays
    for (uint32_t id = 0; id < whole.vocab_size; ++id)
      if (whole.pieces[id].type == PieceType::kNormal) stays.push_back(is_kept(static_cast<int32_t>(id)));
    size_t normal = 0;
    const auto processor =
        load_processor(merges ? bytes() : with_unused_pieces(bytes(), [&] { return !stays[normal++]; }));
    const TestTokenizer tokenizer(*converter::trim_vocabulary(spec, {kept, {0}}).source_tokenizer);
    for (const std::string& line : all_lines()) {
      std::vector<int32_t> ids = tokenizer.encode(line);
      for (int32_t& id : ids) id = static_cast<int32_t>(kept.at(static_cast<size_t>(id)));
      const std::vector<int32_t> expected = reference_ids(*processor, line);
      if (!std::ranges::all_of(expected, is_kept)) continue;
      ASSERT_EQ(ids, expected) << GetParam() << ": " << shown(line);
      compared += expected.size() > 2 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 500u);
}

INSTANTIATE_TEST_SUITE_P(All, SmallModel,
    testing::Values("bpe_bytes", "bpe_rules", "unigram_rules", "unigram_bytes", "char"),
    [](const auto& model) { return std::string(model.param); });

// Models of a few short pieces over three letters, with scores that are often equal.
std::string random_model(std::mt19937* generator, uint32_t model_type) {
  const auto below = [generator](size_t n) { return (*generator)() % n; };
  const auto field = [](uint64_t number, const std::string& bytes) {
    return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
  };
  std::set<std::string> texts;
  const size_t n_pieces = 1 + below(30);
  for (size_t i = 0; i < n_pieces; ++i) {
    std::string text;
    const size_t length = 1 + below(5);
    while (text.size() < length) text += "abc"[below(3)];
    texts.insert(text);
  }
  std::string model = field(1, field(1, "<unk>") + "\x18\x02");
  for (const std::string& text : texts) {
    const float score = static_cast<float>(below(8)) * -1.3f;
    const uint32_t bits = std::bit_cast<uint32_t>(score);
    std::string message = field(1, text) + "\x15";
    for (int shift = 0; shift < 32; shift += 8) message += static_cast<char>(bits >> shift);
    const size_t kind = text == *texts.begin() ? 5 : below(12);  // at least one piece is normal
    if (kind == 0) message += "\x18\x04";                        // user-defined
    if (kind <= 4 && kind > 0) message += "\x18\x05";            // unused
    model += field(1, message);
  }
  const std::string no_dummy_prefix("\x18\x00", 2);
  return model + field(2, varint(3 << 3) + varint(model_type)) + field(3, no_dummy_prefix);
}

TEST(RandomModels, GiveSentencePiecesIds) {
  std::mt19937 generator(11);
  for (int trial = 0; trial < 3000; ++trial) {
    const uint32_t model_type = 1 + trial % 2;  // unigram, BPE
    const std::string model = random_model(&generator, model_type);
    const auto processor = load_processor(model);
    const TestTokenizer tokenizer(converter::parse_sentencepiece_model(model, "random model"));
    for (int i = 0; i < 20; ++i) {
      std::string line;
      const size_t length = generator() % 40;
      while (line.size() < length) line += "aaabbbcccd "[generator() % 11];
      ASSERT_EQ(tokenizer.encode(line), reference_ids(*processor, line)) << "trial " << trial << ": " << shown(line);
    }
  }
}

// Real models: ids of vocab.json by the text of SentencePiece's pieces, which is Hugging Face's rule for Marian.
struct MarianModel {
  const char* name;
  const char* directory;
  const char* spm;
};

class Marian : public testing::TestWithParam<MarianModel> {};

TEST_P(Marian, GivesTheIdsOfTheVocabularyByPieceText) {
  const std::string directory = source_path(GetParam().directory) + "/";
  const std::string model = read_bytes(directory + GetParam().spm);
  const converter::Vocabulary vocabulary = read_vocabulary(directory + "vocab.json");
  std::unordered_map<std::string, int32_t> ids;
  for (size_t id = 0; id < vocabulary.id_to_text.size(); ++id)
    ids[vocabulary.id_to_text[id]] = static_cast<int32_t>(id);
  const auto processor = load_processor(model);
  TokenizerSpec spec = combine_with_vocabulary(converter::parse_sentencepiece_model(model, GetParam().spm), vocabulary);
  const TestTokenizer tokenizer(spec);
  for (const std::string& line : all_lines()) {
    std::vector<std::string> pieces;
    ASSERT_TRUE(processor->Encode(line, &pieces).ok());
    std::vector<int32_t> expected;
    for (const std::string& piece : pieces) {
      const auto id = ids.find(piece);
      expected.push_back(id == ids.end() ? static_cast<int32_t>(vocabulary.unknown_id) : id->second);
    }
    ASSERT_EQ(tokenizer.encode(line), expected) << shown(line);
  }
}

TEST_P(Marian, GivesTheModelsOwnIdsAndText) {
  expect_equal_on_all_lines(read_bytes(source_path(GetParam().directory) + "/" + GetParam().spm), GetParam().spm);
}

INSTANTIATE_TEST_SUITE_P(All, Marian,
    testing::Values(MarianModel{"enfr", "examples/models/enfr", "source.spm"},
        MarianModel{"opus_source", "tests/data/opus-mt-en-mg", "source.spm"},
        MarianModel{"opus_target", "tests/data/opus-mt-en-mg", "target.spm"}),
    [](const auto& model) { return std::string(model.param.name); });
}}  // namespace goldcrest::test
