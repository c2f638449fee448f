// SPDX-License-Identifier: Apache-2.0
// BART, mBART, mBART-50, Pegasus, M2M-100, NLLB, Blenderbot and FSMT: small random checkpoints of transformers 5.23, in
// its own layout (FAMILY) and in version 4's (FAMILY-1), with what it computed from them (tests/peers/families.py
// --record). One of the two has tied tables, the other has not; FSMT has three tables.
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "dialects/text/languages.h"
#include "evaluate/check.h"
#include "spec/trim_vocabulary.h"
#include "support/expect_error.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter { namespace {
using Ids = std::vector<uint32_t>;

const std::filesystem::path& families() {
  static const test::PackedFolders unpacked(test::recorded("families.json"));
  return unpacked.path();
}

struct Family {
  const char *name, *source, *target;  // languages; empty: it has none
};
constexpr Family kFamilies[] = {{"bart", "", ""}, {"mbart", "en_XX", "fr_XX"}, {"mbart50", "en_XX", "fr_XX"},
    {"pegasus", "", ""}, {"m2m100", "en", "fr"}, {"nllb", "eng_Latn", "fra_Latn"}, {"blenderbot", "", ""},
    {"fsmt", "", ""}};

ModelSpec load(const std::filesystem::path& folder) { return load_checkpoint(folder, {}); }

struct Copy : test::FolderCopy {
  explicit Copy(const char* family) : FolderCopy(families() / family) {}
};

TEST(Families, LayersAndResultsAreThoseOfTransformers) {
  for (const Family& family : kFamilies) {
    int n_tied = 0;
    for (const char* layout : {"", "-1"}) {
      const std::string name = std::string(family.name) + layout;
      ModelSpec spec = load(families() / name);
      choose_languages(family.source, family.target, spec);
      const CheckReport report = check(Reference(spec), families() / name, {});
      EXPECT_TRUE(report.passed()) << name << "\n" << to_text(report);
      EXPECT_EQ(report.searches.size(), 2u) << name;
      const bool has_layers =
          std::string(family.name) != "fsmt";  // transformers' FSMT has no causal mask over a target
      EXPECT_EQ(report.tensors.size() > 6, has_layers) << name;
      n_tied += spec.encoder.embedding == spec.projection.weight ? 1 : 0;
    }
    EXPECT_EQ(n_tied, std::string(family.name) == "fsmt" ? 0 : 1) << family.name;
  }
}

// The exact values of what the reader computes: a last bit more or less shows.
TEST(Families, ScalesAreTheNearestFloats) {
  std::set<float> scales;
  for (const Family& family : kFamilies) {
    const std::filesystem::path folder = families() / family.name;
    const ModelSpec spec = load(folder);
    const bool is_scaled = Config(folder / "config.json").flag_or("scale_embedding", false);
    for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
      const double d_head = stack->d_head, d_model = stack->d_model;
      EXPECT_EQ(stack->attention_scale, static_cast<float>(1 / std::sqrt(d_head))) << family.name;
      EXPECT_EQ(stack->embedding_scale, is_scaled ? static_cast<float>(std::sqrt(d_model)) : 1.0f) << family.name;
      EXPECT_EQ(stack->layers[0].self_attention->norm.epsilon, 1e-5f) << family.name;
      scales.insert(stack->embedding_scale);
    }
  }
  EXPECT_TRUE(scales.contains(1.0f));
  EXPECT_GT(scales.size(), 2u);
}

TEST(Families, LanguagesStandWhereTheTokenizersClassHasThem) {
  struct Case {
    const char *name, *source, *target;
    Ids prefix, suffix;
    uint32_t start;
    std::optional<uint32_t> forced;
  };
  constexpr uint32_t kEnglish = 131, kFrench = 132, kGerman = 133;  // after 130 pieces, shifted by one
  const Case cases[] = {{"mbart", "en_XX", "fr_XX", {}, {2, kEnglish}, kFrench, std::nullopt},
      {"mbart50", "en_XX", "fr_XX", {kEnglish}, {2}, 2, kFrench}, {"m2m100", "en", "de", {kEnglish}, {2}, 2, kGerman},
      {"nllb", "fra_Latn", "eng_Latn", {kFrench}, {2}, 2, kEnglish}};
  for (const Case& c : cases) {
    ModelSpec spec = load(families() / c.name);
    EXPECT_EQ(spec.languages.entries.size(), 3u) << c.name;
    choose_languages(c.source, c.target, spec);
    EXPECT_EQ(spec.generation.source_prefix, c.prefix) << c.name;
    EXPECT_EQ(spec.generation.source_suffix, c.suffix) << c.name;
    EXPECT_EQ(spec.generation.decoder_start_id, c.start) << c.name;
    EXPECT_EQ(spec.generation.forced_first_id, c.forced) << c.name;
    EXPECT_EQ(spec.target_language, c.target) << c.name;
    EXPECT_FALSE(spec.languages.is_table()) << c.name;
  }
  const Copy legacy("nllb");
  legacy.set("tokenizer_config.json", "legacy_behaviour", true);
  ModelSpec spec = load(legacy.path());
  choose_languages("eng_Latn", "fra_Latn", spec);
  EXPECT_EQ(spec.generation.source_suffix, (Ids{2, kEnglish}));
}

TEST(Families, LanguagesThatAreMissingOrUnknownAreNamed) {
  for (const bool of_source : {false, true}) {
    ModelSpec spec = load(families() / "nllb");
    test::expect_error(
        [&] { choose_languages(of_source ? "fra_Latm" : "eng_Latn", of_source ? "eng_Latn" : "fra_Latm", spec); },
        {of_source ? "--source-lang \"fra_Latm\"" : "--target-lang \"fra_Latm\"", "did you mean \"fra_Latn\""});
  }
  const Copy known("nllb");
  known.set("tokenizer_config.json", "src_lang", "eng_Latn");
  known.set("generation_config.json", "forced_bos_token_id", 133);
  ModelSpec german = load(known.path());
  choose_languages("", "", german);
  EXPECT_EQ(german.source_language, "eng_Latn");
  EXPECT_EQ(german.target_language, "deu_Latn");
  EXPECT_TRUE(german.languages.is_table());
  EXPECT_EQ(undecided_languages(german), "");
  EXPECT_EQ(german.generation.forced_first_id, 133u);
  const Copy none("nllb");
  std::filesystem::remove(none.path() / "tokenizer_config.json");
  test::expect_error([&] { load(none.path()); }, {"tokenizer_config.json", "has no entries for languages", "eng_Latn"});
}

TEST(Families, ASideThatIsNotNamedStaysInTheTable) {
  constexpr uint32_t kFirst = 133;  // German, the first by name
  ModelSpec both = load(families() / "nllb");
  choose_languages("", "", both);
  EXPECT_EQ(both.languages.source_place, LanguagePlace::kBeforeText);
  EXPECT_EQ(both.languages.target_place, LanguagePlace::kForcedFirst);
  EXPECT_EQ(both.generation.source_prefix, Ids());
  EXPECT_EQ(both.generation.forced_first_id, kFirst);
  EXPECT_NE(undecided_languages(both).find("--source-lang and --target-lang are missing"), std::string::npos);
  ModelSpec of_targets = load(families() / "mbart");
  choose_languages("en_XX", "", of_targets);
  EXPECT_EQ(of_targets.languages.source_place, LanguagePlace::kNowhere);
  EXPECT_EQ(of_targets.languages.target_place, LanguagePlace::kStart);
  EXPECT_EQ(of_targets.generation.source_suffix, (Ids{2, 131}));
  EXPECT_EQ(of_targets.generation.decoder_start_id, kFirst);
  EXPECT_NE(undecided_languages(of_targets).find("--target-lang is missing"), std::string::npos);
  ModelSpec of_sources = load(families() / "m2m100");
  choose_languages("", "fr", of_sources);
  EXPECT_TRUE(of_sources.languages.is_table());
  EXPECT_EQ(of_sources.generation.forced_first_id, 132u);
  EXPECT_NE(undecided_languages(of_sources).find("--source-lang is missing"), std::string::npos);
}

TEST(Families, OnlyKeptLanguagesStay) {
  ModelSpec spec = load(families() / "nllb");
  spec.source_language = "deu_Latn";
  keep_languages({"eng_Latn", "fra_Latn"}, spec);
  EXPECT_EQ(spec.source_language, "");
  ASSERT_EQ(spec.languages.entries.size(), 2u);
  EXPECT_EQ(spec.languages.removed, (Ids{133, 133}));
  choose_languages("", "", spec);
  EXPECT_EQ(spec.generation.forced_first_id, 131u);
  Ids all(spec.encoder.embedding->rows);
  for (uint32_t id = 0; id < all.size(); ++id) all[id] = id;
  const ModelSpec kept = trim_vocabulary(spec, with_needed_ids(spec, {all, all}));
  EXPECT_EQ(kept.encoder.embedding->rows, spec.encoder.embedding->rows - 1);
  EXPECT_EQ(*kept.languages.find("fra_Latn")->source, 132u);
  EXPECT_EQ(kept.source_tokenizer->pieces[133].text, spec.source_tokenizer->pieces[134].text);
  test::expect_error([&] { keep_languages({"eng_Lat"}, spec); }, {"--keep-languages", "did you mean \"eng_Latn\""});
  ModelSpec none = load(families() / "bart");
  test::expect_error([&] { keep_languages({"en"}, none); }, {"--keep-languages", "no entries of languages"});
}

TEST(Families, PiecesAreShifted) {
  for (const auto& [name, file, shift] : {std::tuple{"nllb", "sentencepiece.bpe.model", 1u},
           std::tuple{"m2m100", "sentencepiece.bpe.model", 1u}, std::tuple{"pegasus", "spiece.model", 103u}}) {
    const ModelSpec spec = load(families() / name);
    const TokenizerSpec model = read_sentencepiece_model(families() / name / file);
    const std::string text = "Where is the station?";
    std::vector<int32_t> expected;
    for (const int32_t id : Segmenter(model).encode(text))
      expected.push_back(
          id == static_cast<int32_t>(model.unknown_id) && shift == 1 ? 3 : id + static_cast<int32_t>(shift));
    EXPECT_GT(expected.size(), 5u);
    EXPECT_EQ(Segmenter(*spec.source_tokenizer).encode(text), expected) << name;
  }
}

TEST(Families, SettingsThatNoLongerActAreRefusedWithAnotherValue) {
  struct Case {
    const char *family, *key;
    Value value;
  };
  const Case cases[] = {{"bart", "normalize_before", true}, {"mbart", "add_final_layer_norm", false},
      {"pegasus", "normalize_embedding", true}, {"pegasus", "static_position_embeddings", false},
      {"blenderbot", "layernorm_variant", "xlm"}};
  for (const Case& c : cases) {
    const Copy copy(c.family);
    copy.set("config.json", c.key, c.value);
    test::expect_error([&] { load(copy.path()); }, {"config.json", c.key, "no longer reads"});
  }
  const Copy same("mbart");
  same.set("config.json", "normalize_before", true);
  EXPECT_NO_THROW(load(same.path()));
}

TEST(Families, TokenizersOfOthersAreRefused) {
  const Copy wrong("nllb");
  wrong.set("tokenizer_config.json", "tokenizer_class", "T5Tokenizer");
  test::expect_error([&] { load(wrong.path()); }, {"tokenizer_class", "T5Tokenizer", "NllbTokenizer"});
  const Copy none("mbart");
  std::filesystem::remove(none.path() / "sentencepiece.bpe.model");
  test::expect_error([&] { load(none.path()); }, {"sentencepiece.bpe.model", "is missing"});
  const Copy swapped("nllb");
  std::filesystem::copy_file(families() / "pegasus/spiece.model", swapped.path() / "sentencepiece.bpe.model",
      std::filesystem::copy_options::overwrite_existing);
  test::expect_error([&] { load(swapped.path()); }, {"sentencepiece.bpe.model", "another model's"});
}
}}  // namespace goldcrest::converter
