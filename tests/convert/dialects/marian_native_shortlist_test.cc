// SPDX-License-Identifier: Apache-2.0
// The shortlist of a Marian model: named by its settings, found in its folder, or not usable.
#include <gtest/gtest.h>

#include "convert/support/native_folder.h"
#include "dialects/shortlist/shortlist_file.h"
#include "spec/error.h"
#include "support/binary_shortlist.h"
#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

using test::BinaryLists;
using test::NativeFolder;
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

}  // namespace
}  // namespace goldcrest::converter
