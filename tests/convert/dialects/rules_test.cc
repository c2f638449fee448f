// SPDX-License-Identifier: Apache-2.0
// Generation settings: the converter applies each, or it is harmless, or a warning names it. None is ignored silently.
#include "convert/support/marian_folder.h"
#include "convert/support/nn_folder.h"
#include "spec/format_text.h"

namespace goldcrest::converter { namespace {
using nlohmann::json;
using namespace test;

// Loads with a generation_config.json that has only the ids, and `settings`.
ModelSpec load_with(const json& settings) {
  json generation = {{"eos_token_id", 0}, {"pad_token_id", 5999}, {"decoder_start_token_id", 5999},
      {"forced_eos_token_id", 0}, {"max_length", 16}, {"num_beams", 4}, {"bad_words_ids", {{5999}}}};
  for (const auto& [key, value] : settings.items()) generation[key] = value;
  MarianFolder checkpoint;
  checkpoint.folder.write("generation_config.json", generation.dump());
  return checkpoint.load();
}

void expect_rules(const json& settings, const RulesSpec& rules) {
  const ModelSpec spec = load_with(settings);
  EXPECT_EQ(spec.generation.rules, rules) << settings;
  EXPECT_TRUE(spec.warnings.empty()) << settings << ": " << spec.warnings.at(0);
}

void expect_warning(const ModelSpec& spec, const std::string& end) {
  ASSERT_EQ(spec.warnings.size(), 1u) << end;
  EXPECT_TRUE(spec.warnings[0].ends_with(end)) << spec.warnings[0] << "\nexpected " << end;
}

TEST(MarianRules, AreRead) {
  expect_rules({}, {});
  expect_rules({{"renormalize_logits", true}}, {.renormalize = true});
  expect_rules({{"renormalize_logits", false}}, {});
  expect_rules({{"early_stopping", true}}, {.early_stopping = GOLDCREST_STOP_FULL});
  expect_rules({{"early_stopping", "never"}}, {.early_stopping = GOLDCREST_STOP_NEVER});
  expect_rules({{"early_stopping", false}}, {});
  expect_rules({{"no_repeat_ngram_size", 3}}, {.no_repeat_ngram = 3});
  expect_rules({{"repetition_penalty", 1.25}}, {.repetition_penalty = 1.25f});
  expect_rules({{"forced_eos_token_id", nullptr}}, {.force_end = false});
  expect_rules({{"sequence_bias", json::parse("[[[7], -1.5], [[3], 2], [[9], 0.0], [[7], 2.5]]")}},
      {.biases = {{3, 2.0f}, {7, 2.5f}}});
}

TEST(MarianRules, SequencesAreRead) {
  const float never = -std::numeric_limits<float>::infinity();
  const GenerationSpec spec = load_with(json::parse(R"({"encoder_no_repeat_ngram_size": 2,
      "sequence_bias": [[[1, 2], 1.5], [[7], 2], [[3, 4, 5], 0], [[1, 2], -2.5]],
      "bad_words_ids": [[5999], [0], [6, 0], [7, 8, 9]]})"))
                                  .generation;
  EXPECT_EQ(spec.sequences.list, (std::vector<SequenceSpec>{{{6, 0}, never}, {{7, 8, 9}, never}, {{1, 2}, -2.5f}}));
  EXPECT_EQ(spec.sequences.no_repeat_source_ngram, 2u);
  EXPECT_EQ(spec.rules, (RulesSpec{.biases = {{7, 2.0f}}}));
  EXPECT_EQ(spec.suppressed_ids, std::vector<uint32_t>{5999}) << "the end is spared";
}

// Given two minima, transformers takes the one without the start token, even if it is smaller.
TEST(MarianRules, MinimumOfNewTokens) {
  EXPECT_EQ(load_with({{"min_length", 7}}).generation.min_target_tokens, 7u);
  EXPECT_EQ(load_with({{"min_new_tokens", 4}}).generation.min_target_tokens, 5u);
  EXPECT_EQ(load_with({{"min_length", 7}, {"min_new_tokens", 4}}).generation.min_target_tokens, 5u);
}

TEST(MarianRules, SeveralEnds) {
  const GenerationSpec first = load_with({{"eos_token_id", {0, 9, 4, 9}}}).generation;
  EXPECT_EQ(first.end_id, 0u);
  EXPECT_EQ(first.rules.more_end_ids, (std::vector<uint32_t>{4, 9}));
  const GenerationSpec forced =
      load_with({{"eos_token_id", {0, 9}}, {"forced_eos_token_id", 9}, {"bad_words_ids", {{0}, {9}, {5}}}}).generation;
  EXPECT_EQ(forced.end_id, 9u) << "the forced one";
  EXPECT_EQ(forced.rules.more_end_ids, std::vector<uint32_t>{0});
  EXPECT_EQ(forced.suppressed_ids, std::vector<uint32_t>{5})
      << "bad_words_ids exclude end tokens, and only they name the padding";
  std::vector<uint32_t> many(17);
  for (uint32_t i = 0; i < many.size(); ++i) many[i] = i;
  expect_error([&] { load_with({{"eos_token_id", many}}); }, {"\"eos_token_id\" has 17 tokens, expected at most 16"});
}

TEST(MarianRules, TheEndMayBeSuppressedWhereItIsNotForced) {
  const GenerationSpec never = load_with({{"suppress_tokens", {0}}, {"forced_eos_token_id", nullptr}}).generation;
  EXPECT_EQ(never.suppressed_ids, (std::vector<uint32_t>{0, 5999}));
  expect_error(
      [] {
        load_with({{"suppress_tokens", {3, 0}}});
      },
      {"generation_config.json: setting \"suppress_tokens\" has the token 0, which forced_eos_token_id forces: nothing "
       "could be generated there; remove it from one of them"});
  expect_error(
      [] {
        load_with({{"suppress_tokens", {8}}, {"forced_bos_token_id", 8}});
      },
      {"has the token 8, which forced_bos_token_id forces"});
}

TEST(MarianRules, OfConfigJsonAlone) {
  MarianFolder checkpoint;
  checkpoint.config["renormalize_logits"] = true;
  EXPECT_EQ(checkpoint.load().generation.rules, RulesSpec{.renormalize = true})
      << "the end is forced: MarianConfig's default";
  checkpoint.config["forced_eos_token_id"] = nullptr;
  EXPECT_FALSE(checkpoint.load().generation.rules.force_end);
  checkpoint.config.erase("forced_eos_token_id");
  checkpoint.config["eos_token_id"] = 2;
  checkpoint.folder.write("tokenizer_config.json", R"({"eos_token": "."})");  // it has that id
  const ModelSpec other = checkpoint.load();
  EXPECT_EQ(other.generation.end_id, 2u);
  EXPECT_EQ(other.generation.rules, RulesSpec{.renormalize = true});
  expect_warning(other,
      "config.json: setting \"forced_eos_token_id\" is missing, for which transformers has 0; the end token 2 is "
      "forced");
}

TEST(MarianRules, GenerationConfigHidesConfigJson) {
  MarianFolder checkpoint;
  checkpoint.config.update({{"num_beams", 6}, {"early_stopping", true}, {"max_time", 2.5}, {"do_sample", false}});
  checkpoint.folder.write("generation_config.json", R"({"forced_eos_token_id": 0, "max_length": 9})");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.beam_size, 1u);
  EXPECT_EQ(spec.generation.max_target_tokens, 8u);
  EXPECT_EQ(spec.generation.rules, RulesSpec{});
  EXPECT_EQ(spec.generation.decoder_start_id, 5999u) << "ids that every text needs are accepted anyway";
  EXPECT_TRUE(spec.generation.suppressed_ids.empty());
  expect_warning(spec,
      "config.json: \"bad_words_ids\", \"early_stopping\", \"num_beams\", \"max_time\" ignored, as in transformers: "
      "the checkpoint has a generation_config.json, which lacks them");
}

TEST(MarianRules, UnsupportedSettingsAreNamed) {
  const std::pair<const char*, json> asked[] = {{"assistant_early_exit", 2}, {"begin_suppress_tokens", {3}},
      {"constraints", {1}}, {"diversity_penalty", 0.5}, {"do_sample", true}, {"dola_layers", "high"},
      {"encoder_repetition_penalty", 1.2}, {"exponential_decay_length_penalty", {5, 1.1}}, {"force_words_ids", {{4}}},
      {"guidance_scale", 1.5}, {"low_memory", true}, {"max_time", 3.0}, {"num_beam_groups", 2}, {"penalty_alpha", 0.6},
      {"prompt_lookup_num_tokens", 3}, {"speculation_type", "dflash"}, {"stop_strings", {"."}}, {"token_healing", true},
      {"use_mtp", true}, {"watermarking_config", {{"bias", 2.5}}}};
  for (const auto& [key, value] : asked) {
    expect_warning(load_with({{key, value}}),
        format_text("generation_config.json: setting \"{}\" is not supported and was ignored", key));
    EXPECT_TRUE(load_with({{key, nullptr}}).warnings.empty()) << key;
  }
  expect_warning(load_with({{"forced_eos_token_id", {0, 4}}, {"eos_token_id", {0, 4}}}),
      "\"forced_eos_token_id\" has several tokens; only the first is used");
}

TEST(MarianRules, NeutralAndHarmlessSettingsAreNot) {
  const json neutral = json::parse(R"({"do_sample": false, "num_beam_groups": 1, "diversity_penalty": 0.0,
      "encoder_no_repeat_ngram_size": 0, "encoder_repetition_penalty": 1.0, "guidance_scale": 1, "penalty_alpha": 0,
      "begin_suppress_tokens": [], "temperature": 0.7, "top_k": 40, "top_p": 0.9, "typical_p": 0.5, "use_cache": false,
      "num_return_sequences": 3, "output_scores": true, "return_dict_in_generate": true, "bos_token_id": 0,
      "remove_invalid_values": true, "transformers_version": "5.23.0", "_from_model_config": true,
      "cache_config": {}})");
  EXPECT_TRUE(load_with(neutral).warnings.empty());
  EXPECT_EQ(load_with(neutral).generation.rules, RulesSpec{});
}

TEST(MarianRules, UnknownAndMissingSettingsAreNamed) {
  expect_warning(load_with({{"no_repeat_ngram", 3}}),
      "generation_config.json: setting \"no_repeat_ngram\" is not known and was ignored");
  expect_warning(
      load_with({{"num_beam", 3}}), "setting \"num_beam\" is not known and was ignored; did you mean \"num_beams\"?");
  const ModelSpec endless = load_with({{"max_length", nullptr}});
  ASSERT_EQ(endless.warnings.size(), 2u);
  EXPECT_TRUE(
      endless.warnings[0].ends_with("generation_config.json: setting \"max_length\" is missing: texts have up to 16 "
                                    "tokens here, the decoder's positions; transformers stops after 20"));
  EXPECT_TRUE(
      endless.warnings[1].ends_with("config.json: \"max_length\" ignored, as in transformers: the checkpoint has a "
                                    "generation_config.json, which lacks it"));
}

TEST(MarianRules, BrokenValuesAreRefused) {
  const std::pair<json, std::string> cases[] = {
      {{{"early_stopping", "always"}}, "\"early_stopping\" is \"always\", expected true, false or \"never\""},
      {{{"early_stopping", 1}}, "\"early_stopping\" is 1, expected true, false or \"never\""},
      {{{"renormalize_logits", 1}}, "\"renormalize_logits\" is \"1\", expected true or false"},
      {{{"repetition_penalty", 0}}, "\"repetition_penalty\" is \"0\", expected a number from 0.0009765625 to 1024"},
      {{{"no_repeat_ngram_size", -1}}, "\"no_repeat_ngram_size\" is \"-1\", expected an integer from 0 to 16777216"},
      {{{"eos_token_id", {0, 6000}}}, "\"eos_token_id\" is \"6000\", expected an integer from 0 to 5999"},
      {{{"sequence_bias", 5}}, "\"sequence_bias\" is a JSON number, expected an array"},
      {{{"sequence_bias", {{3, 1.5}}}}, "\"sequence_bias\" has an element that is not [[TOKEN ID, ...], BIAS]"},
      {{{"sequence_bias", json::parse("[[[], 1]]")}}, "\"sequence_bias\" has an empty sequence, expected token ids"},
      {{{"bad_words_ids", json::parse("[[1, 6000]]")}},
          "\"bad_words_ids\" has an element that is not a token id below 6000"},
      {{{"sequence_bias", json::parse("[[[3], 70000]]")}}, "with a bias from -65536 to 65536"},
      {{{"sequence_bias", json::parse("[[[6000], 1.5]]")}},
          "\"sequence_bias\" has an element that is not a token id below 6000"},
      {{{"forced_eos_token_id", 5}}, "\"forced_eos_token_id\" is 5, expected the end token 0"}};
  for (const auto& refused : cases)
    expect_error([&] { load_with(refused.first); }, {refused.second}, refused.first.dump());
}

TEST(NnTransformerRules, AreRead) {
  NnFolder checkpoint;
  checkpoint.config.update(
      {{"renormalize", true}, {"early_stopping", "never"}, {"no_repeat_ngram", 2}, {"repetition_penalty", 1.5},
          {"force_end", false}, {"length_penalty_kind", "wu"}, {"max_extra_tokens", 50}, {"max_length_factor", 2.5}});
  checkpoint.config["more_end_tokens"] = {"a", 3};
  checkpoint.config["token_biases"] = json::parse(R"([["b", -2.5], [1, 3]])");
  const ModelSpec spec = checkpoint.load();
  const RulesSpec expected = {.renormalize = true,
      .force_end = false,
      .early_stopping = GOLDCREST_STOP_NEVER,
      .length_penalty_kind = GOLDCREST_LENGTH_WU,
      .no_repeat_ngram = 2,
      .max_extra_tokens = 50,
      .max_length_factor = 2.5f,
      .repetition_penalty = 1.5f,
      .more_end_ids = {4, 3},
      .biases = {{1, 3.0f}, {5, -2.5f}}};
  EXPECT_EQ(spec.generation.rules, expected);
  EXPECT_TRUE(spec.warnings.empty());
  EXPECT_EQ(NnFolder().load().generation.rules, RulesSpec{});
}

TEST(NnTransformerRules, BrokenValuesAreRefused) {
  const std::tuple<const char*, json, std::string> cases[] = {
      {"length_penalty_kind", "gnmt", "\"length_penalty_kind\" is \"gnmt\", expected \"power\" or \"wu\""},
      {"early_stopping", 2, "\"early_stopping\" is 2, expected true, false or \"never\""},
      {"repetition_penalty", 2000, "\"repetition_penalty\" is \"2000\", expected a number from 0.0009765625 to 1024"},
      {"max_length_factor", 0, "\"max_length_factor\" is \"0\", expected a number from 0.0009765625 to 1024"},
      {"more_end_tokens", {"c"}, "\"more_end_tokens\""},
      {"more_end_tokens", 3, "\"more_end_tokens\" is a JSON number, expected an array"},
      {"token_biases", 3, "\"token_biases\" is a JSON number, expected an array"},
      {"token_biases", json::parse(R"([["a", "b"]])"),
          "\"token_biases\" has an element that is not [TOKEN, BIAS] with a bias from -65536 to 65536"},
      {"token_biases", json::parse("[[9, 1.0]]"), "\"token_biases\""}};
  for (const auto& [key, value, message] : cases) {
    NnFolder checkpoint;
    checkpoint.config[key] = value;
    expect_error([&] { checkpoint.load(); }, {message}, key);
  }
}
}}  // namespace goldcrest::converter
