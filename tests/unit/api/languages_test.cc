// SPDX-License-Identifier: Apache-2.0
// Files with a table of languages: each source of a batch has languages of its own, with the same results as a file of
// that pair.
#include "goldcrest/languages.h"
#include "goldcrest/decoding.h"
#include "goldcrest/tokens.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"
#include "text/double_array.h"
#include "text/languages.h"

namespace goldcrest::test { namespace {
using converter::LanguagePlace;
using converter::SelfTestLine;

using Ids = std::vector<int32_t>;
using Languages = std::vector<std::pair<std::string, int32_t>>;

// Six languages have the entries 20 .. 25 of the source's vocabulary, and 28 .. 33 of the target's.

constexpr uint32_t kFirstSource = 20, kFirstTarget = 28;
const std::vector<std::string> kCodes = {"aa", "bb", "cc_Dddd", "cc_Eeee", "dd", "ee"};

struct Places {
  LanguagePlace source, target;
};
constexpr Places kPlaces[] = {{LanguagePlace::kBeforeText, LanguagePlace::kForcedFirst},
    {LanguagePlace::kBehindText, LanguagePlace::kForcedFirst}, {LanguagePlace::kBehindText, LanguagePlace::kStart},
    {LanguagePlace::kNowhere, LanguagePlace::kStart}, {LanguagePlace::kBeforeText, LanguagePlace::kNowhere},
    {LanguagePlace::kBeforeText, LanguagePlace::kBeforeText}};

ModelSpec spec_without_table() {
  ModelSpec spec = tiny_spec({.end_bias = 1});
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  spec.source_tokenizer->add_dummy_prefix = false;
  spec.generation.source_prefix = {9};
  return spec;
}

uint32_t first_target(LanguagePlace place) { return place == LanguagePlace::kBeforeText ? kFirstSource : kFirstTarget; }

ModelSpec spec_with_table(const Places& places) {
  ModelSpec spec = spec_without_table();
  spec.languages.source_place = places.source;
  spec.languages.target_place = places.target;
  const uint32_t target = first_target(places.target);
  for (uint32_t i = 0; i < kCodes.size(); ++i)
    spec.languages.entries.push_back({kCodes[i], kFirstSource + i, target + i});
  if (places.target == LanguagePlace::kForcedFirst) spec.generation.forced_first_id = target;
  if (places.target == LanguagePlace::kStart) spec.generation.decoder_start_id = target;
  return spec;
}

// The same model with a fixed pair.
ModelSpec spec_of_pair(const Places& places, uint32_t source, uint32_t target) {
  ModelSpec spec = spec_without_table();
  converter::GenerationSpec& generation = spec.generation;
  if (places.source == LanguagePlace::kBeforeText) generation.source_prefix.push_back(kFirstSource + source);
  if (places.source == LanguagePlace::kBehindText) generation.source_suffix.push_back(kFirstSource + source);
  const uint32_t id = first_target(places.target) + target;
  if (places.target == LanguagePlace::kBeforeText) generation.source_prefix.push_back(id);
  if (places.target == LanguagePlace::kForcedFirst) generation.forced_first_id = id;
  if (places.target == LanguagePlace::kStart) generation.decoder_start_id = id;
  return spec;
}

EngineSetup table_setup(uint32_t batch, uint32_t beam_size) {
  return {.limits = {.max_source_tokens = 12,
              .max_source_bytes = 20,
              .beam_size = beam_size,
              .batch = batch,
              .n_best = beam_size,
              .max_prefix_tokens = 3}};
}

// The source and the target of each pair of two languages.
std::vector<std::pair<uint32_t, uint32_t>> all_pairs() {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t source = 0; source < kCodes.size(); ++source)
    for (uint32_t target = 0; target < kCodes.size(); ++target)
      if (source != target) pairs.emplace_back(source, target);
  return pairs;
}

// The names of a pair; null where the table has no such side.
struct PairNames {
  const char *source, *target;
};
PairNames names_of(const Places& places, uint32_t source, uint32_t target) {
  return {places.source == LanguagePlace::kNowhere ? nullptr : kCodes[source].c_str(),
      places.target == LanguagePlace::kNowhere ? nullptr : kCodes[target].c_str()};
}

std::string text_of_pair(uint32_t pair) { return std::string("abcdefgh").substr(pair % 6, 1 + pair % 3); }

// Stores the text of a pair, as this sentence of the batch.
void store_text(const TestEngine& engine, uint32_t pair, uint32_t sentence) {
  const std::string text = text_of_pair(pair);
  const auto store = sentence == 0 ? goldcrest_begin_text : goldcrest_add_text;
  EXPECT_EQ(store(engine.get(), text.data(), text.size()), static_cast<int>(sentence)) << engine.detail().message;
}

void give_prefix(const TestEngine& engine, uint32_t sentence) {
  const int32_t ids[] = {4, 7};
  const uint32_t flags = sentence % 3 == 1 ? GOLDCREST_PREFIX_BEHIND_PROMPT : 0u;
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), sentence, ids, sentence % 3 == 0 ? 0 : 2, flags), GOLDCREST_OK);
}

// Runs all 30 pairs in one batch. [pair][rank]
std::vector<std::vector<Translation>> run_pairs(const Places& places, TestEngine& engine) {
  uint32_t n = 0;
  for (const auto& [source, target] : all_pairs()) {
    const auto [source_name, target_name] = names_of(places, source, target);
    EXPECT_EQ(goldcrest_set_languages(engine.get(), source_name, target_name), GOLDCREST_OK);
    store_text(engine, n, n);
    ++n;
  }
  for (uint32_t i = 0; i < n; ++i) give_prefix(engine, i);
  return engine.finish(n);
}

goldcrest_search scored(const TestEngine& engine) {
  goldcrest_search search = engine.search();
  search.length_penalty = 0.7f;
  search.flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;
  return search;
}

Ids ids_of(const TestEngine& engine, const std::string& text) {
  const int32_t* ids = nullptr;
  EXPECT_EQ(goldcrest_begin_text(engine.get(), text.data(), text.size()), 0) << engine.detail().message;
  const int n = goldcrest_get_source(engine.get(), 0, &ids);
  return n < 0 ? Ids() : Ids(ids, ids + n);
}

TEST(LanguageTable, ABatchOfAllPairsEqualsFilesOfOnePair) {
  for (const Places& places : kPlaces) {
    const FileImage table = tiny_file(spec_with_table(places));
    for (const uint32_t beam_size : {1u, 4u}) {
      std::vector<std::vector<Translation>> expected;
      for (const auto& [source, target] : all_pairs()) {
        const auto pair = static_cast<uint32_t>(expected.size());
        const FileImage fixed = tiny_file(spec_of_pair(places, source, target));
        EXPECT_LT(fixed.size(), table.size());
        TestEngine engine(fixed.span(), table_setup(3, beam_size));
        engine.set_search(scored(engine));
        // At the place in the batch that gets the same prefix.
        for (uint32_t i = 0; i <= pair % 3; ++i) store_text(engine, pair, i);
        give_prefix(engine, pair % 3);
        expected.push_back(engine.finish(pair % 3 + 1).back());
      }
      for (const goldcrest_step_size step_size : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
        EngineSetup setup = table_setup(30, beam_size);
        setup.step_size = step_size;
        TestEngine engine(table.span(), setup);
        engine.set_search(scored(engine));
        EXPECT_EQ(run_pairs(places, engine), expected)
            << static_cast<int>(places.source) << " " << static_cast<int>(places.target) << ", beam " << beam_size;
        EXPECT_TRUE(engine.memory_intact());
      }
    }
  }
}

using ListFunction = int (*)(const void*, size_t, goldcrest_language_function, void*, goldcrest_detail*);

Languages listed(ListFunction list, const FileImage& file) {
  Languages found;
  const auto add = [](void* context, const char* code, size_t code_bytes, int32_t id) {
    static_cast<Languages*>(context)->emplace_back(std::string(code, code_bytes), id);
  };
  const int n = list(file.bytes(), file.size(), add, &found, nullptr);
  EXPECT_EQ(n, static_cast<int>(found.size()));
  EXPECT_EQ(list(file.bytes(), file.size(), nullptr, nullptr, nullptr), static_cast<int>(found.size()));
  goldcrest_detail detail = {"", -1};
  for (goldcrest_detail* to : {static_cast<goldcrest_detail*>(nullptr), &detail})
    EXPECT_EQ(list(file.bytes(), file.size() - 64, nullptr, nullptr, to), GOLDCREST_ERROR_MODEL_CORRUPT);
  return found;
}

TEST(LanguageTable, BothSidesAreListed) {
  ModelSpec spec = spec_with_table(kPlaces[0]);
  std::swap(spec.languages.entries[0], spec.languages.entries[5]);
  spec.languages.entries[1].source.reset();
  spec.languages.entries[2].target.reset();
  const FileImage file = tiny_file(spec);
  EXPECT_EQ(listed(goldcrest_target_languages, file),
      (Languages{{"aa", 28}, {"bb", 29}, {"cc_Eeee", 31}, {"dd", 32}, {"ee", 33}}));
  EXPECT_EQ(listed(goldcrest_source_languages, file),
      (Languages{{"aa", 20}, {"cc_Dddd", 22}, {"cc_Eeee", 23}, {"dd", 24}, {"ee", 25}}));
  EXPECT_EQ(listed(goldcrest_source_languages, tiny_file(spec_without_table())), Languages());
}

TEST(LanguageTable, TraitsNameTheSidesWithoutADefault) {
  for (const bool has_default : {false, true}) {
    for (const Places& places : kPlaces) {
      ModelSpec spec = spec_with_table(places);
      if (has_default) spec.source_language = spec.languages.entries[0].code;
      const FileImage file = tiny_file(spec);
      goldcrest_text_traits traits;
      ASSERT_EQ(goldcrest_get_text_traits(file.bytes(), file.size(), &traits, nullptr), GOLDCREST_OK);
      EXPECT_EQ(traits.lacks_source_default, places.source != LanguagePlace::kNowhere && !has_default ? 1 : 0);
      EXPECT_EQ(traits.lacks_target_default, places.target != LanguagePlace::kNowhere ? 1 : 0);
      const bool acts = places.target == LanguagePlace::kForcedFirst || places.target == LanguagePlace::kStart;
      EXPECT_EQ(traits.target_acts_on_ids, acts ? 1 : 0);
    }
  }
  const FileImage file = tiny_file(spec_without_table());
  goldcrest_text_traits traits;
  EXPECT_EQ(goldcrest_get_text_traits(file.bytes(), file.size() - 64, &traits, nullptr), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_EQ(goldcrest_get_text_traits(file.bytes(), file.size(), nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
  ASSERT_EQ(goldcrest_get_text_traits(file.bytes(), file.size(), &traits, nullptr), GOLDCREST_OK);
  EXPECT_EQ(traits.lacks_source_default + traits.lacks_target_default + traits.target_acts_on_ids, 0);
}

TEST(LanguageTable, WithoutADefaultASourceNeedsAChoice) {
  const int32_t ids[] = {2, 3, 0};
  for (const Places& places : kPlaces) {
    const FileImage file = tiny_file(spec_with_table(places));
    TestEngine engine(file.span(), table_setup(2, 1));
    EXPECT_EQ(goldcrest_begin_text(engine.get(), "ab", 2), GOLDCREST_ERROR_STATE);
    EXPECT_TRUE(has(std::string(engine.detail().message), "goldcrest_set_languages"));
    EXPECT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_ERROR_STATE) << "nothing was begun";
    const bool acts_on_ids = places.target == LanguagePlace::kForcedFirst || places.target == LanguagePlace::kStart;
    EXPECT_EQ(goldcrest_begin(engine.get(), ids, 3), acts_on_ids ? GOLDCREST_ERROR_STATE : 0);
    const auto [source, target] = names_of(places, 1, 4);
    if (source != nullptr && target != nullptr) {
      ASSERT_EQ(goldcrest_set_languages(engine.get(), source, nullptr), GOLDCREST_OK);
      EXPECT_EQ(goldcrest_begin_text(engine.get(), "ab", 2), GOLDCREST_ERROR_STATE) << "only the source is chosen";
      ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, target), GOLDCREST_OK);
      EXPECT_EQ(goldcrest_begin_text(engine.get(), "ab", 2), GOLDCREST_ERROR_STATE) << "only the target is chosen";
    }
    ASSERT_EQ(goldcrest_set_languages(engine.get(), source, target), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_begin_text(engine.get(), "ab", 2), 0);
    EXPECT_EQ(goldcrest_add(engine.get(), ids, 3), 1);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, nullptr), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_begin_text(engine.get(), "ab", 2), GOLDCREST_ERROR_STATE);
  }
}

TEST(LanguageTable, ADefaultIsTaken) {
  ModelSpec spec = spec_with_table(kPlaces[0]);
  spec.source_language = "dd";
  spec.target_language = "bb";
  spec.generation.forced_first_id = kFirstTarget + 1;
  const FileImage file = tiny_file(spec);
  TestEngine engine(file.span(), table_setup(1, 1));
  const Ids with_default = {9, 24, 2, 3, 0};
  EXPECT_EQ(ids_of(engine, "ab"), with_default);
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  EXPECT_EQ(engine.results(0)[0].tokens[0], 29);
  ASSERT_EQ(goldcrest_set_languages(engine.get(), "ee", "aa"), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{9, 25, 2, 3, 0}));
  ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, nullptr), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), with_default);
  EXPECT_EQ(ids_of(engine, "abcdefab"), (Ids{9, 24, 2, 3, 4, 5, 6, 7, 2, 3, 0}));
  EXPECT_EQ(goldcrest_begin_text(engine.get(), "abcdefabab", 10), GOLDCREST_ERROR_TOO_LONG) << "a language counts";
}

TEST(LanguageTable, OtherNamesAreRefusedAndChangeNothing) {
  ModelSpec spec = spec_with_table(kPlaces[0]);
  spec.languages.entries[1].source.reset();
  const FileImage file = tiny_file(spec);
  TestEngine engine(file.span(), table_setup(1, 1));
  ASSERT_EQ(goldcrest_set_languages(engine.get(), "ee", "aa"), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_set_languages(engine.get(), "bb", "dd"), GOLDCREST_ERROR_ARGUMENT) << "it is a target only";
  EXPECT_STREQ(engine.detail().message, "source language: not the model's");
  for (const char* name : {"", "cc", "cc_Dddd ", "zz"}) {
    EXPECT_EQ(goldcrest_set_languages(engine.get(), "dd", name), GOLDCREST_ERROR_ARGUMENT) << name;
    EXPECT_STREQ(engine.detail().message, "target language: the model has none of this name");
    EXPECT_EQ(goldcrest_set_languages(engine.get(), name, "dd"), GOLDCREST_ERROR_ARGUMENT) << name;
  }
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{9, 25, 2, 3, 0}));
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  EXPECT_EQ(engine.results(0)[0].tokens[0], 28);

  ModelSpec one_sided = spec_with_table(kPlaces[3]);
  one_sided.source_language = "en";
  const FileImage targets = tiny_file(one_sided);
  TestEngine of_targets(targets.span(), table_setup(1, 1));
  EXPECT_EQ(goldcrest_set_languages(of_targets.get(), "en", "dd"), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_set_languages(of_targets.get(), "aa", "dd"), GOLDCREST_ERROR_ARGUMENT);
}

TEST(LanguageTable, SelfTestLinesHaveLanguagesOfTheirOwn) {
  for (const Places& places : {kPlaces[0], kPlaces[2]}) {
    const ModelSpec spec = spec_with_table(places);
    const converter::Payload payload = converter::build_payload(spec, {});
    const bool is_forced = places.target == LanguagePlace::kForcedFirst;
    const FileImage plain = tiny_file(spec);
    std::vector<SelfTestLine> lines;
    for (uint32_t i = 0; i < 3; ++i) {
      TestEngine engine(plain.span(), table_setup(1, 1));
      engine.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS; });
      ASSERT_EQ(goldcrest_set_languages(engine.get(), "aa", kCodes[is_forced ? 2 * i : 0].c_str()), GOLDCREST_OK);
      const Translation result = engine.run({3, 4, static_cast<int32_t>(i), 0});
      lines.push_back({{3, 4, i, 0}, {result.tokens.begin(), result.tokens.end()}, result.logits_hash});
      lines.back().is_forced = is_forced;
    }
    const FileImage file = converter::assemble(payload, lines);
    TestEngine engine(file.span(), table_setup(1, 1));
    ASSERT_EQ(goldcrest_set_languages(engine.get(), "bb", "ee"), GOLDCREST_OK);
    goldcrest_detail detail = {"", -1};
    EXPECT_EQ(goldcrest_self_test(engine.get(), &detail), GOLDCREST_OK) << detail.message << " " << detail.index;
    EXPECT_EQ(ids_of(engine, "ab").size(), 5u) << "the chosen languages stay";
    if (!is_forced) continue;
    lines[1].target[0] = kFirstTarget + 5;
    const FileImage other = converter::assemble(payload, lines);
    TestEngine wrong(other.span(), table_setup(1, 1));
    EXPECT_EQ(goldcrest_self_test(wrong.get(), &detail), GOLDCREST_ERROR_SELF_TEST);
    EXPECT_EQ(detail.index, 1);
  }
}

// Target languages by name: the list of languages, the ids that each puts before a text, and tries that contain
// circles.

using converter::PieceType;

constexpr uint32_t kMaxSource = 6;
const std::string kLongest(kMaxLanguageBytes, 'q');

// A file whose ids from 2 on are the letters from 'a' on; codes replace some of them.
FileImage file_with(const std::vector<std::pair<uint32_t, std::string>>& codes) {
  ModelSpec spec = tiny_spec(odd_tiny_options());
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  for (const auto& [id, code] : codes) spec.source_tokenizer->pieces[id] = {">>" + code + "<<", 0, PieceType::kSurface};
  spec.source_tokenizer->language_codes = !codes.empty();
  spec.source_tokenizer->add_dummy_prefix = false;
  spec.source_language = "mul";
  spec.target_language = "xx";
  return tiny_file(spec);
}

FileImage file_of_several() {
  return file_with(
      {{5, "fra"}, {6, "zh_Hans"}, {7, "deu"}, {8, kLongest}, {9, kLongest + "q"}, {10, "fr"}, {11, "a<b"}});
}

EngineSetup text_setup() { return {.limits = {.max_source_tokens = kMaxSource, .max_source_bytes = 60}}; }

TEST(Languages, AreListedInTheOrderOfTheirCodes) {
  const Languages expected = {{"a<b", 11}, {"deu", 7}, {"fr", 10}, {"fra", 5}, {kLongest, 8}, {"zh_Hans", 6}};
  EXPECT_EQ(listed(goldcrest_target_languages, file_of_several()), expected);
  EXPECT_EQ(listed(goldcrest_target_languages, file_with({})), Languages());
}

TEST(Languages, OneIsPutBeforeEachTextWithoutACode) {
  const FileImage file = file_of_several();
  TestEngine engine(file.span(), text_setup());
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  for (const auto& [code, id] : listed(goldcrest_target_languages, file)) {
    ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, code.c_str()), GOLDCREST_OK) << code;
    EXPECT_EQ(ids_of(engine, "ab"), (Ids{id, 2, 3, 0}));
    EXPECT_EQ(ids_of(engine, ">>deu<<ab"), (Ids{7, 2, 3, 0})) << "a text's own code stays";
    EXPECT_EQ(ids_of(engine, ""), (Ids{id, 0}));
  }
  ASSERT_EQ(goldcrest_set_languages(engine.get(), "mul", "fra"), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "abab"), (Ids{5, 2, 3, 2, 3, 0}));
  EXPECT_EQ(goldcrest_begin_text(engine.get(), "ababa", 5), GOLDCREST_ERROR_TOO_LONG) << "it counts among the tokens";
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{5, 2, 3, 0})) << "for all later texts";
  ASSERT_EQ(goldcrest_add_text(engine.get(), "b", 1), GOLDCREST_ERROR_TOO_LONG);
  ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, nullptr), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  EXPECT_TRUE(engine.memory_intact());
}

TEST(Languages, OthersAreRefusedAndChangeNothing) {
  const FileImage file = file_of_several();
  TestEngine engine(file.span(), text_setup());
  ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, "fra"), GOLDCREST_OK);
  for (const std::string& code : {std::string(), std::string("ita"), std::string(">>fra<<"), kLongest + "q",
           std::string("f"), std::string("a<<b"), std::string("xx")}) {
    EXPECT_EQ(goldcrest_set_languages(engine.get(), nullptr, code.c_str()), GOLDCREST_ERROR_ARGUMENT) << code;
    EXPECT_STREQ(engine.detail().message, "target language: the model has none of this name");
  }
  EXPECT_EQ(goldcrest_set_languages(engine.get(), "fra", "deu"), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "source language: not the model's");
  EXPECT_EQ(goldcrest_set_languages(nullptr, nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{5, 2, 3, 0}));
}

TEST(Languages, AModelOfOneTargetTakesItsName) {
  const FileImage file = file_with({});
  TestEngine engine(file.span(), text_setup());
  EXPECT_EQ(goldcrest_set_languages(engine.get(), "mul", "xx"), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  EXPECT_EQ(goldcrest_set_languages(engine.get(), nullptr, "fra"), GOLDCREST_ERROR_ARGUMENT);
}

int visit_units(const std::vector<uint32_t>& units) {
  TokenizerView view = {.language_codes = true,
      .vocab_size = 1000,
      .n_pieces = 1000,
      .trie = units.data(),
      .trie_units = static_cast<uint32_t>(units.size()),
      .max_piece_bytes = 64};
  return visit_languages(
      view, [](void*, const char*, size_t, int32_t) {}, nullptr);
}

TEST(Languages, TriesThatAreNoTreesAreGivenUp) {
  // Byte b leads from every node to node 256 + b, so a walk over all ways would not end.
  std::vector<uint32_t> circles(512);
  for (uint32_t i = 0; i < circles.size(); ++i) circles[i] = (i ^ 256) << 10 | (i & 0xFF);
  EXPECT_EQ(visit_units(circles), GOLDCREST_ERROR_MODEL_CORRUPT);

  Rng rng(16);
  for (int round = 0; round < 400; ++round) {
    std::vector<uint32_t> units = circles;
    for (uint32_t& unit : units)
      if (rng.below(4) == 0) unit = rng.below(1 << 22) << 10 | rng.below(1 << 10);
    const int n = visit_units(units);
    EXPECT_TRUE(n >= 0 || n == GOLDCREST_ERROR_MODEL_CORRUPT) << n;
  }
}

// No writer of tries makes an edge of a zero byte, but a file may have such an edge.
TEST(Languages, ACodeWithAZeroByteIsNone) {
  for (const uint8_t byte : {uint8_t{0}, uint8_t{1}}) {
    const uint8_t entry[] = {'>', '>', byte, '<', '<'};
    std::vector<uint32_t> units(7);
    for (uint32_t node = 0; node < 5; ++node) {  // the child is the next node
      units[node] |= (node ^ entry[node] ^ (node + 1)) << 10;
      units[node + 1] = entry[node];
    }
    units[5] |= 1u << 8 | (5 ^ 6) << 10;
    units[6] = kTrieLeaf | 3;
    EXPECT_EQ(visit_units(units), byte);
  }
}
}}  // namespace goldcrest::test
