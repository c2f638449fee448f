// SPDX-License-Identifier: Apache-2.0
// The shortlist of a Marian model: named by its settings, found in its folder, or not usable.
#include <gtest/gtest.h>

#include "convert/support/native_folder.h"
#include "dialects/shortlist/shortlist_file.h"
#include "spec/error.h"
#include "support/expect_error.h"
#include "support/marian_native.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using namespace test;
using Ids = std::vector<uint32_t>;

// Lists for the model's 13 source ids: 12, and one for the row of the start token.
std::string lists() { return BinaryLists{2, {0, 1, 1, 3}, {5, 7, 9}}.bytes(); }

TEST(NativeShortlist, TheOnlyBinaryBesideTheModel) {
  const NativeFolder folder;
  EXPECT_FALSE(folder.load().shortlist.has_value());
  folder.folder.write("lex.s2t.bin", lists());
  const ModelSpec spec = folder.load();
  ASSERT_TRUE(spec.shortlist.has_value());
  EXPECT_EQ(spec.shortlist->always, (Ids{0, 1}));
  EXPECT_EQ(spec.shortlist->offset.size(), spec.encoder.embedding->rows + 1);
  EXPECT_EQ(spec.shortlist->ids, (Ids{5, 7, 9}));

  folder.folder.write("other.s2t.bin", lists());
  const ModelSpec several = folder.load();
  EXPECT_FALSE(several.shortlist.has_value());
  EXPECT_EQ(several.warnings.back(),
            folder.folder.path().string() + ": has 2 shortlists, and none is used; choose one with --shortlist");
}

TEST(NativeShortlist, WhatTheSettingsName) {
  NativeFolder folder;
  folder.decoder += "shortlist: [models/lex.bin, false]\n";
  const ModelSpec without = folder.load();
  EXPECT_FALSE(without.shortlist.has_value());
  EXPECT_EQ(without.warnings.back(), folder.file("decoder.yml") + ": setting \"shortlist\" names " +
                                         folder.file("lex.bin") + ", which is missing; no shortlist is used");
  folder.folder.write("lex.bin", lists());
  folder.folder.write("other.bin", BinaryLists{1, {0, 1}, {3}}.bytes());
  EXPECT_EQ(folder.load().shortlist->always, (Ids{0, 1}));
}

TEST(NativeShortlist, ATextWithItsOptions) {
  NativeFolder folder;
  folder.folder.write("lex.s2t", "word5 word2 0.5\nword6 word2 0.4\nword7 word2 0.05\nword8 word3 0.9\n");
  folder.decoder += "shortlist: [lex.s2t, 3, 2, 0.1]\n";
  const ModelSpec spec = folder.load();
  EXPECT_EQ(spec.shortlist->always, (Ids{0, 1, 2}));
  EXPECT_EQ(spec.shortlist->ids, (Ids{5, 6, 8}));
  EXPECT_EQ(spec.shortlist->offset[2], 0u);
  EXPECT_EQ(spec.shortlist->offset[3], 2u);
}

TEST(NativeShortlist, WhatCannotBeUsed) {
  NativeFolder folder;
  const std::string decoder = folder.decoder, where = folder.file("decoder.yml") + ": setting \"shortlist\"";
  folder.folder.write("lex.s2t", "word5 word2 0.5\n");
  folder.folder.write("lex.s2t.gz", "\x1f\x8b");
  folder.decoder = decoder + "shortlist: {a: b}\n";
  test::expect_error([&] { folder.load(); },
                     {where + " is {\"a\":\"b\"}, expected a list that begins with a file's name"});
  folder.decoder = decoder + "shortlist: [lex.s2t, many]\n";
  test::expect_error([&] { folder.load(); }, {where + " has \"many\", expected a number"});
  folder.decoder = decoder + "shortlist: [lex.s2t, -1]\n";
  test::expect_error([&] { folder.load(); }, {where + " has -1, expected a number"});
  folder.decoder = decoder + "shortlist: [lex.s2t.gz, 50, 50]\n";
  EXPECT_EQ(folder.load().warnings.back(),
            folder.file("lex.s2t.gz") +
                ": is compressed, and no shortlist is used; unpack it with gunzip, and name it with --shortlist");
}

TEST(NativeShortlist, EachKindOfFileByItsContents) {
  const NativeFolder folder;
  ModelSpec spec = folder.load();
  EXPECT_EQ(read_shortlist(folder.folder.write("a", lists()), spec).ids, (Ids{5, 7, 9}));
  EXPECT_EQ(read_shortlist(folder.folder.write("b", "word5 word2 0.5\n"), spec).ids, (Ids{5}));
  const ShortlistSpec map = read_shortlist(folder.folder.write("c", "\tword3\nword2 word4\tword5\n"), spec);
  EXPECT_EQ(map.always, (Ids{3}));
  ASSERT_EQ(map.ngrams.size(), 1u);
  EXPECT_EQ(map.ngrams[0].ngram, (Ids{2, 4}));
  spec.source_tokenizer.reset();
  test::expect_error(
      [&] { read_shortlist(folder.folder / "b", spec); },
      {folder.file("b") + ": a shortlist of texts needs the vocabularies of both sides, which the checkpoint lacks"});
}

// Files that hold a shortlist: their contents, and every damage with its message.

using Ids = std::vector<uint32_t>;

// Returns the error's message after the file's path, or "read".
template <typename Read>
std::string message_of(const std::string& bytes, Read read) {
  static const TemporaryFolder folder;
  const std::filesystem::path path = folder.write("lex", bytes);
  try {
    read(path);
    return "read";
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.starts_with(path.string()) ? message.substr(path.string().size()) : "no name: " + message;
  }
}

constexpr ShortlistBounds kBounds = {4, 10};

std::string binary_message(const std::string& bytes) {
  return message_of(bytes, [](const auto& path) { read_binary_shortlist(path, kBounds); });
}

TEST(ShortlistFile, ReadsMariansBinary) {
  const TemporaryFolder folder;
  const ShortlistSpec shortlist = read_binary_shortlist(folder.write("lex.bin", BinaryLists().bytes()), kBounds);
  EXPECT_EQ(shortlist.always, (Ids{0, 1, 2}));
  EXPECT_EQ(shortlist.offset, (std::vector<uint64_t>{0, 2, 2, 5, 5}));  // the fourth id has an empty list
  EXPECT_EQ(shortlist.ids, (Ids{1, 7, 0, 4, 9}));
  EXPECT_TRUE(shortlist.ngrams.empty());
  const ShortlistSpec many = read_binary_shortlist(folder.write("lex.bin", BinaryLists{100}.bytes()), kBounds);
  EXPECT_EQ(many.always.size(), 10u);
}

TEST(ShortlistFile, SaysWhatIsWrongWithABinary) {
  const std::string good = BinaryLists().bytes();
  EXPECT_EQ(binary_message(""), ": the file is empty; download it again");
  EXPECT_EQ(binary_message(good.substr(0, 47)), ": is not a binary shortlist of Marian: it does not begin like one");
  EXPECT_EQ(binary_message(good.substr(0, good.size() - 1)),
            ": has 51 bytes after its header, which says 4 offsets and 5 ids: it is truncated or damaged");
  std::string huge = good;
  huge.replace(32, 8, std::string(7, '\xff') + '\x7f');
  EXPECT_EQ(binary_message(huge),
            ": has 52 bytes after its header, which says 9223372036854775807 offsets and 5 ids: it is truncated or "
            "damaged");
  std::string changed = good;
  changed[50] = 1;
  EXPECT_EQ(binary_message(changed).substr(0, 17), ": its checksum is");
  const auto lists = [](const BinaryLists& of) { return binary_message(of.bytes()); };
  EXPECT_EQ(lists({3, {0, 2, 2, 2, 2, 5}, {1, 7, 0, 4, 9}}),
            ": has lists for 5 source ids, but the model has 4; is it another model's?");
  EXPECT_EQ(lists({3, {0, 2, 2, 4}, {1, 7, 0, 4, 9}}),
            ": its offsets go from 0 to 4, expected from 0 to 5: it is damaged");
  EXPECT_EQ(lists({3, {0, 3, 2, 5}, {1, 7, 9, 4, 9}}),
            ": the list of the source id 1 ends before it begins: it is damaged");
  EXPECT_EQ(lists({3, {0, 9, 9, 5}, {1, 7, 0, 4, 9}}),
            ": the list of the source id 0 ends before it begins: it is damaged");
  EXPECT_EQ(lists({3, {0, 2, 2, 5}, {7, 7, 0, 4, 9}}), ": the list of the source id 0 is not ascending: it is damaged");
  EXPECT_EQ(lists({3, {0, 2, 2, 5}, {1, 10, 0, 4, 9}}),
            ": the source id 0 lists the target id 10, expected less than 10; is it another model's?");
}

TEST(ShortlistFile, DamagedBinariesAreRefused) {
  const std::string good = BinaryLists().bytes();
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(binary_message(good.substr(0, n)), "read") << n;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    // The last, odd id is not in the checksum, which covers whole words of eight bytes.
    if (i < good.size() - 4) {
      EXPECT_NE(binary_message(changed), "read") << i;
    }
  }
}

TokenizerSpec words(std::vector<std::string> texts) {
  TokenizerSpec spec;
  spec.unknown_id = 1;
  for (std::string& text : texts) spec.pieces.push_back({std::move(text)});
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  return spec;
}

struct Texts {
  TokenizerSpec source = words({"</s>", "<unk>", "the", "house", "a"});
  TokenizerSpec target = words({"</s>", "<unk>", "la", "le", "maison", "un", "une", "chez"});
};

ShortlistSpec lexical(const std::string& content, const LexicalOptions& options) {
  const TemporaryFolder folder;
  const Texts texts;
  return read_lexical_shortlist(folder.write("lex.s2t", content), {texts.source, texts.target}, options);
}

TEST(ShortlistFile, ReadsMariansText) {
  const std::string content =
      "la the 0.3\nle the 0.4\nles the 0.9\nmaison house 0.8\nchez house 0.05\nNULL the 0.5\nune NULL 0.5\n\n"
      "un a 0.4\r\nune a 0.4\nla a 1e-3\nle cottage 0.2\n";
  const ShortlistSpec shortlist = lexical(content, {2, 2, 0.1});
  EXPECT_EQ(shortlist.always, (Ids{0, 1}));
  EXPECT_EQ(shortlist.offset, (std::vector<uint64_t>{0, 0, 1, 3, 4, 6}));
  // "the" keeps <unk> and "le"; "a" keeps both words; no pair at or below the threshold is kept.
  EXPECT_EQ(shortlist.ids, (Ids{3, 1, 3, 4, 5, 6}));
  EXPECT_EQ(lexical(content, {2, 1, 0.1}).ids, (Ids{3, 1, 4, 6}));  // of equal probabilities the greater id
}

TEST(ShortlistFile, SaysWhichLineOfATextIsWrong) {
  const Texts texts;
  const auto message = [&](const std::string& content) {
    return message_of(content, [&](const auto& path) {
      read_lexical_shortlist(path, {texts.source, texts.target}, {});
    });
  };
  EXPECT_EQ(message("la the 0.3\nla the\n"), ":2: has 2 words, expected three: target, source, probability");
  EXPECT_EQ(message("la the 0.3x\n"), ":1: \"0.3x\" is not a probability, expected a number from 0 to 1");
  EXPECT_EQ(message("la the -1\n"), ":1: \"-1\" is not a probability, expected a number from 0 to 1");
  EXPECT_EQ(message("la the nan\n"), ":1: \"nan\" is not a probability, expected a number from 0 to 1");
}

TEST(ShortlistFile, ReadsCTranslate2sMap) {
  const TemporaryFolder folder;
  const Texts texts;
  std::vector<std::string> warnings;
  const ShortlistSpec shortlist = read_vocabulary_map(
      folder.write("vmap.txt",
                   "\tune la\nthe\tle la\nthe house\tmaison chez maison\na cottage\tla\nhouse\tmaison villa\n"
                   "\tla\na the house\tla\n"),
      {texts.source, texts.target}, warnings);
  EXPECT_EQ(shortlist.always, (Ids{2, 6}));
  EXPECT_EQ(shortlist.offset, (std::vector<uint64_t>{0, 0, 0, 2, 3, 3}));
  EXPECT_EQ(shortlist.ids, (Ids{2, 3, 4}));
  ASSERT_EQ(shortlist.ngrams.size(), 2u);
  EXPECT_EQ(shortlist.ngrams[0].ngram, (Ids{2, 3}));
  EXPECT_EQ(shortlist.ngrams[0].ids, (Ids{4, 7}));
  EXPECT_EQ(shortlist.ngrams[1].ngram, (Ids{4, 2, 3}));
  EXPECT_EQ(warnings, (std::vector<std::string>{(folder / "vmap.txt").string() +
                                                ": 1 of its lines and 1 of its candidates are not of this model's "
                                                "vocabularies"}));
}

TEST(ShortlistFile, SaysWhichLineOfAMapIsWrong) {
  const Texts texts;
  const auto message = [&](const std::string& content) {
    std::vector<std::string> warnings;
    return message_of(content, [&](const auto& path) {
      read_vocabulary_map(path, {texts.source, texts.target}, warnings);
    });
  };
  EXPECT_EQ(message("the\tla\nthe la\n"), ":2: expected one tab, between the source's pieces and the target's");
  EXPECT_EQ(message("the\tla\tle\n"), ":1: expected one tab, between the source's pieces and the target's");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "the ";
  EXPECT_EQ(message(many + "\tla\n"), ":1: has 17 pieces of the source, expected at most 16");
}

TEST(ShortlistFile, RandomTextsDoNoHarm) {
  const Texts texts;
  const std::string letters = std::string("the la\t\n 0.5\r\xc3\xa9") + '\0';
  test::Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::string content(1 + rng.below(60), ' ');
    for (char& c : content) c = letters[rng.below(static_cast<uint32_t>(letters.size()))];
    std::vector<std::string> warnings;
    message_of(content, [&](const auto& path) { read_lexical_shortlist(path, {texts.source, texts.target}, {}); });
    message_of(content, [&](const auto& path) { read_vocabulary_map(path, {texts.source, texts.target}, warnings); });
  }
}

}  // namespace
}  // namespace goldcrest::converter
