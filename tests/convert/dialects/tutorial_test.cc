// SPDX-License-Identifier: Apache-2.0
// Compares the tutorials' Transformers with their formulas, layer by layer (--check), and bounds the error of folded
// norms.
#include "convert/support/formula_samples.h"
#include "convert/support/tutorial_folder.h"
#include "dialects/config_template.h"
#include "evaluate/check.h"
#include "evaluate/deviation.h"
#include "sources/values/json_text.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using namespace test;

constexpr size_t kMaxTarget = 7;
const std::vector<std::vector<int32_t>> kSources = {{0, 3, 7, 2, 8, 1}, {0, 1}, {0, 5, 5, 4, 1}};

// Greedy ids: token 0 is the start. Token 1 is the end, which is forced as the last.
std::vector<int32_t> greedy(TutorialFormula& formula, const std::vector<int32_t>& source) {
  std::vector<int32_t> inputs = {0}, ids;
  while (ids.empty() || ids.back() != 1) {
    const TutorialFormula::Row logits = formula.run(source, inputs).at("logits").back();
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? 1 : static_cast<int32_t>(best));
    inputs.push_back(ids.back());
  }
  return ids;
}

// The samples that the tutorial's own code would export.
std::vector<FormulaSample> samples_of(TutorialFormula& formula) {
  std::vector<FormulaSample> samples;
  for (const std::vector<int32_t>& source : kSources) {
    const std::vector<int32_t> ids = greedy(formula, source);
    std::vector<int32_t> inputs = {0};
    inputs.insert(inputs.end(), ids.begin(), ids.end() - 1);
    samples.push_back({source, ids, formula.run(source, inputs)});
  }
  return samples;
}

TEST(Tutorial, LayersAndResultsAreThoseOfTheFormula) {
  for (const auto& [kind, model_type] : kTutorials) {
    const TutorialFolder checkpoint(kind);
    TutorialFormula formula(checkpoint);
    const SampleFolder samples;
    write_samples(samples_of(formula), kMaxTarget, samples);
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
    EXPECT_EQ(spec.dialect, model_type);
    const CheckReport report = check(Reference(spec), samples.path(), {});
    EXPECT_TRUE(report.passed()) << model_type << "\n" << to_text(report);
    const size_t n_norms = kind == TutorialKind::kTrevett ? 0 : 2;
    EXPECT_EQ(report.tensors.size(), 6 + n_norms + kSources.size()) << "embeddings, layers, norms and logits";
    ASSERT_EQ(report.searches.size(), 1u);
    EXPECT_EQ(report.searches[0].equal, kSources.size());
  }
}

TEST(Tutorial, TheCheckFindsAWrongLayer) {
  for (const auto& [kind, model_type] : kTutorials) {
    const TutorialFolder checkpoint(kind);
    TutorialFormula formula(checkpoint);
    const SampleFolder samples;
    write_samples(samples_of(formula), kMaxTarget, samples);
    const auto departs = [&, name = model_type](const char* layer, const auto& make) {
      ModelSpec spec = checkpoint.load();
      make(spec);
      const CheckReport report = check(Reference(spec), samples.path(), {});
      ASSERT_NE(report.first_departure(), nullptr) << name << " " << layer;
      EXPECT_EQ(report.first_departure()->tensor, layer) << name;
    };
    departs("encoder.embed", [](ModelSpec& spec) { spec.encoder.embedding_scale = 1; });
    departs("encoder.layers.0", [](ModelSpec& spec) { spec.encoder.pre_norm = !spec.encoder.pre_norm; });
    departs("encoder.layers.1", [](ModelSpec& spec) {  // as if a gamma was not folded
      for (float& gamma : spec.encoder.layers[1].self_attention->norm.gamma) gamma *= std::sqrt(8.0f / 7.0f);
    });
    departs("decoder.layers.0", [](ModelSpec& spec) {
      std::swap(spec.decoder.layers[0].cross_attention->key, spec.decoder.layers[0].cross_attention->value);
    });
  }
}

TEST(Tutorial, ItsCodeTellsWhatTheConfigLeavesOut) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.layers.size(), 2u);
    EXPECT_EQ(spec.encoder.positions.rows, 10u);
    EXPECT_EQ(spec.encoder.pre_norm, kind == TutorialKind::kAnnotated);
    EXPECT_EQ(spec.decoder.final_norm.has_value(), kind != TutorialKind::kTrevett);
    EXPECT_EQ(spec.decoder.embedding_scale, std::sqrt(8.0f));
    EXPECT_EQ(spec.generation.source_prefix, std::vector<uint32_t>{0});
    EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{1});
    EXPECT_EQ(spec.deviation_epsilon, kind == TutorialKind::kAnnotated ? 1e-6f : 0);

    checkpoint.config.update({{"activation", "gelu"}, {"add_source_bos", false}, {"model_type", model_type}});
    const ModelSpec changed = checkpoint.load();
    EXPECT_TRUE(changed.warnings.empty()) << changed.warnings.front();
    EXPECT_EQ(changed.encoder.activation, Activation::kGelu);
    EXPECT_TRUE(changed.generation.source_prefix.empty());

    for (const char* prefix : {"module.", "model.", "model._orig_mod."}) {
      TutorialFolder wrapped(kind);
      wrapped.wrap(prefix);
      const ModelSpec same = wrapped.load();
      EXPECT_TRUE(same.warnings.empty()) << same.warnings.front();
      EXPECT_EQ(same.encoder.embedding->values, spec.encoder.embedding->values) << prefix;
      EXPECT_EQ(same.projection.bias, spec.projection.bias) << prefix;
    }
  }
}

TEST(Tutorial, FewerPositionsThanItsTable) {
  for (const TutorialKind kind : {TutorialKind::kAnnotated, TutorialKind::kSeq2Seq, TutorialKind::kTrevett}) {
    TutorialFolder checkpoint(kind);
    checkpoint.config["max_positions"] = 6;
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.positions.rows, 6u);
    EXPECT_EQ(spec.decoder.positions.rows, 6u);
  }
}

TEST(Tutorial, TheBoundOfFoldedNormsIsThatOfTheSmallestDeviation) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  const ModelSpec spec = checkpoint.load();
  const DeviationBound bound = bound_deviations(spec, {kSources[0]}, "model.pt");
  TutorialFormula formula(checkpoint);
  const std::vector<int32_t> ids = [&] {
    std::vector<int32_t> inputs = {0};
    for (size_t n = 1; n < 10; ++n) {
      const TutorialFormula::Row logits = formula.run(kSources[0], inputs).at("logits").back();
      const auto best = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      if (best == 1) break;
      inputs.push_back(best);
    }
    return inputs;
  }();
  formula.run(kSources[0], ids);
  EXPECT_NEAR(bound.smallest, formula.smallest_deviation, 1e-5);
  EXPECT_NEAR(bound.error, 1e-6 / bound.smallest, 1e-11);
  EXPECT_EQ(bound.sources, 1u);
  // Each source position has two norms a layer and one at the end, each target position three and one.
  EXPECT_EQ(bound.rows, kSources[0].size() * 5 + ids.size() * 4);
  EXPECT_EQ(to_text({1e-6, 0.532, 1.88e-6, 187, 3}),
      "norms    1e-06 is added to the deviation, folded; this changes a norm by at most 1.9e-06 of its value, at the "
      "smallest deviation, 0.532, of 187 rows of 3 sources\n");
}

TEST(Tutorial, RefusesNormsThatTheirEpsilonChanges) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  checkpoint.config["layer_norm_eps"] = 1e-3;
  const ModelSpec spec = checkpoint.load();
  TutorialFormula formula(checkpoint);
  try {
    bound_deviations(spec, {kSources[1]}, "model.pt");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    ModelSpec small = spec;
    small.deviation_epsilon = 1e-6f;
    const DeviationBound bound = bound_deviations(small, {kSources[1]}, "");
    EXPECT_EQ(std::string(error.what()),
        format_text("model.pt: its norms add 0.001 to the deviation, which a file's norms add to the variance; the "
                    "smallest deviation of {} rows is {:.3g}, where this changes a norm by {:.2g} of its value, more "
                    "than 2^-16; it cannot be converted",
            bound.rows, bound.smallest, 1e-3 / bound.smallest));
  }
}

// A row of equal values has the deviation 0, and every norm turns it into beta.
TEST(Tutorial, RowsOfEqualValuesAreNoSmallDeviation) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  ModelSpec spec = checkpoint.load();
  auto flat = std::make_shared<Matrix>(*spec.encoder.embedding);
  flat->values = std::vector<float>(flat->values.size(), 0.0f);
  spec.encoder.embedding = flat;
  spec.encoder.positions.values = std::vector<float>(spec.encoder.positions.values.size(), 1.0f);
  EXPECT_GT(bound_deviations(spec, {{0, 1}}, "").smallest, 0);
}

// Settings that a tutorial's checkpoint needs, and settings that do not fit it: each message with its exact text.

std::string refusal(const TutorialFolder& checkpoint) {
  return error_of([&] { checkpoint.load(); });
}

TEST(TutorialRefusals, AskForWhatNoTensorTells) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const std::string config = (checkpoint.folder / "config.json").string();
    checkpoint.config = nlohmann::json::object();
    EXPECT_EQ(refusal(checkpoint),
        config +
            ": 3 settings are not set:\n  \"nhead\" is missing; expected the number of attention heads, a divisor of "
            "d_model\n  \"bos_token\" is missing; expected a text of the vocabulary or a token id\n  \"eos_token\" is "
            "missing; expected a text of the vocabulary or a token id");
    checkpoint.config = {{"bos_token", 0}, {"eos_token", 1}};
    EXPECT_EQ(refusal(checkpoint),
        config + ": setting \"nhead\" is missing; expected the number of attention heads, a divisor of d_model");
    checkpoint.config["nhead"] = 3;
    EXPECT_EQ(refusal(checkpoint), config + ": setting \"nhead\" is 3, expected a divisor of d_model 8");
    std::filesystem::remove(config);
    EXPECT_EQ(error_of([&] { load_checkpoint(checkpoint.folder.path(), {}); }),
        config + ": is missing; it tells what the weights of this model cannot. `goldcrest-convert --print-config " +
            checkpoint.folder.path().string() + "` begins one (converter/dialects/TUTORIALS.md lists its settings)");
  }
}

TEST(TutorialRefusals, AnotherModelType) {
  TutorialFolder annotated(TutorialKind::kAnnotated);
  annotated.config["model_type"] = "nn_transformer";
  EXPECT_EQ(refusal(annotated), (annotated.folder / "config.json").string() +
                                    ": setting \"model_type\" is \"nn_transformer\", but this is a model of the "
                                    "Annotated Transformer: expected \"annotated_transformer\"");
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.config["model_type"] = "seq2seq_transformer";
  EXPECT_EQ(refusal(trevett), (trevett.folder / "config.json").string() +
                                  ": setting \"model_type\" is \"seq2seq_transformer\", but this is a Transformer of "
                                  "Ben Trevett's tutorial 6: expected \"trevett_transformer\"");
}

// Before this family had a dialect, such a checkpoint was read as nn_transformer; that must still work.
TEST(TutorialRefusals, ASeq2SeqTransformerMayBeAnNnTransformer) {
  TutorialFolder checkpoint(TutorialKind::kSeq2Seq);
  const ModelSpec expected = checkpoint.load();
  checkpoint.config.update({{"model_type", "nn_transformer"}, {"activation", "relu"}, {"norm_first", false},
      {"scale_embedding", true}, {"position_encoding", "sinusoidal_interleaved"}, {"max_positions", 10},
      {"add_source_eos", true}, {"add_source_bos", true},
      {"tensors", {{"source_embedding", "src_tok_emb.embedding.weight"},
                      {"target_embedding", "tgt_tok_emb.embedding.weight"}, {"output_projection", "generator"}}}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.dialect, "nn_transformer");
  EXPECT_EQ(spec.encoder.positions.values, expected.encoder.positions.values);
  EXPECT_EQ(spec.decoder.layers[0].self_attention->key.weight->values,
      expected.decoder.layers[0].self_attention->key.weight->values);
}

TEST(TutorialRefusals, TensorsByTheirOwnNames) {
  TutorialFolder annotated(TutorialKind::kAnnotated);
  const std::string weights = (annotated.folder / "model.pt").string();
  annotated.tensors.erase("encoder.layers.1.self_attn.linears.2.weight");
  annotated.tensors.erase("decoder.layers.0.sublayer.2.norm.b_2");
  EXPECT_EQ(refusal(annotated),
      weights +
          ": tensor \"encoder.layers.1.self_attn.linears.2.weight\" is missing, and 1 more: "
          "\"decoder.layers.0.sublayer.2.norm.b_2\"; the nearest names that it has: "
          "\"encoder.layers.0.self_attn.linears.2.weight\", \"decoder.layers.0.sublayer.0.norm.b_2\"");
  TutorialFolder unfinished(TutorialKind::kAnnotated);
  for (const char* name : {"encoder.norm.a_2", "encoder.norm.b_2"}) unfinished.tensors.erase(name);
  EXPECT_EQ(refusal(unfinished), (unfinished.folder / "config.json").string() +
                                     ": setting \"final_norm\" is true, but the tensors have no \"encoder.norm.a_2\"");
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.add("decoder.layers.0.encoder_attention.fc_k.weight", {8, 7});
  EXPECT_EQ(refusal(trevett),
      (trevett.folder / "model.pt").string() +
          ": tensor \"decoder.layers.0.encoder_attention.fc_k.weight\" has shape [8, 7], expected [8, 8]");
}

TEST(TutorialRefusals, PositionsThatAreNotThere) {
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.config["max_positions"] = 11;
  EXPECT_EQ(refusal(trevett), (trevett.folder / "model.pt").string() +
                                  ": tensor \"encoder.pos_embedding.weight\" has 10 rows, expected at least "
                                  "position_offset 0 + max_positions 11");
  TutorialFolder annotated(TutorialKind::kAnnotated);
  annotated.tensors["src_embed.1.pe"].values[3] = 3;
  EXPECT_EQ(refusal(annotated), (annotated.folder / "model.pt").string() +
                                    ": tensor \"src_embed.1.pe\" differs by up to 2 from the table that " +
                                    (annotated.folder / "config.json").string() +
                                    ": setting \"position_encoding\" describes; correct the setting, or use \"stored\" "
                                    "and name this tensor in tensors.positions");
  for (const char* name : {"src_embed.1.pe", "tgt_embed.1.pe"}) annotated.tensors.erase(name);
  EXPECT_EQ(refusal(annotated),
      (annotated.folder / "config.json").string() +
          ": setting \"max_positions\" is missing; expected the most positions that a text may have");
}

constexpr const char* kAnnotatedConfig = R"({
 "model_type": "annotated_transformer",
 "d_model": 8,
 "dim_feedforward": 12,
 "num_encoder_layers": 2,
 "num_decoder_layers": 1,
 "nhead": null,
 "nhead?": "one of 1, 2, 4, 8 (a divisor of d_model 8): nhead of the nn.Transformer",
 "activation": "relu",
 "activation?": "the tutorial's; no tensor tells it",
 "norm_first": true,
 "norm_first?": "the tutorial's; no tensor tells it",
 "layer_norm_eps": 1e-06,
 "layer_norm_eps?": "the tutorial's; no tensor tells it",
 "scale_embedding": true,
 "scale_embedding?": "the tutorial's; no tensor tells it",
 "position_encoding": "sinusoidal_interleaved",
 "position_encoding?": "the tutorial's; no tensor tells it",
 "max_positions": 10,
 "max_positions?": "the most positions that a text may have: the rows of \"src_embed.1.pe\"; fewer make a smaller file",
 "source_vocab_size": 9,
 "target_vocab_size": 7,
 "source_vocabulary": null,
 "source_vocabulary?": "the texts in the order of their ids, or a file next to config.json (.json, .spm, .model, or )"
                                         R"(one text a line); remove it and the unit to use token ids only",
 "source_unit": null,
 "source_unit?": "\"word\", \"character\", \"subword\" or \"sentencepiece\"",
 "target_vocabulary": null,
 "target_vocabulary?": "the texts in the order of their ids, or a file next to config.json (.json, .spm, .model, or )"
                                         R"(one text a line); remove it and the unit to use token ids only",
 "target_unit": null,
 "target_unit?": "\"word\", \"character\", \"subword\" or \"sentencepiece\"",
 "bos_token": null,
 "bos_token?": "the start token, a text of the vocabulary or its id; the tutorial's is \"<s>\", id 0",
 "eos_token": null,
 "eos_token?": "the end token, a text of the vocabulary or its id; the tutorial's is \"</s>\", id 1",
 "pad_token": null,
 "pad_token?": "the padding token, a text or its id; remove it if there is none; the tutorial's is \"<blank>\", id 2",
 "unk_token": null,
 "unk_token?": "the unknown token, a text or its id; remove it if there is none; the tutorial's is \"<unk>\", id 3",
 "add_source_bos": true,
 "add_source_bos?": "the tutorial's; no tensor tells it",
 "add_source_eos": true,
 "add_source_eos?": "the tutorial's; no tensor tells it"
})";

TEST(TutorialRefusals, ThePrintedConfigAsksForTheRest) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const ModelSpec by_hand = checkpoint.load();
    const auto printed = nlohmann::ordered_json::parse(write_json(config_template(checkpoint.folder / "model.pt")));
    if (kind == TutorialKind::kAnnotated) {
      EXPECT_EQ(printed.dump(1), kAnnotatedConfig);
    }
    EXPECT_EQ(printed.at("model_type"), model_type);
    const std::map<std::string, nlohmann::json> answers = {
        {"nhead", 2}, {"bos_token", 0}, {"eos_token", 1}, {"pad_token", 2}, {"unk_token", 3}};
    checkpoint.config = nlohmann::json::object();
    for (const auto& [key, value] : printed.items())
      if (!value.is_null()) checkpoint.config[key] = nlohmann::json::parse(value.dump());
      else if (answers.contains(key)) checkpoint.config[key] = answers.at(key);
      else {
        EXPECT_TRUE(key.ends_with("_vocabulary") || key.ends_with("_unit")) << key;
      }
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
    EXPECT_EQ(spec.projection.weight->values, by_hand.projection.weight->values);
    EXPECT_EQ(spec.encoder.positions.values, by_hand.encoder.positions.values);
    EXPECT_EQ(spec.encoder.layers[1].feed_forward.norm.gamma, by_hand.encoder.layers[1].feed_forward.norm.gamma);
    EXPECT_EQ(spec.encoder.layers[1].feed_forward.norm.epsilon, by_hand.encoder.layers[1].feed_forward.norm.epsilon);
  }
}

TEST(TutorialRefusals, AShapeHasTheSettingsOfTheTutorial) {
  for (const auto& [kind, model_type] : kTutorials) {
    const TemporaryFolder folder;
    nlohmann::json config = {{"model_type", model_type}, {"nhead", 2}, {"d_model", 8}, {"dim_feedforward", 12},
        {"bos_token", 0}, {"eos_token", 1}, {"num_encoder_layers", 2}, {"max_positions", 10}, {"num_decoder_layers", 1},
        {"source_vocab_size", 9}, {"target_vocab_size", 7}};
    folder.write("config.json", config.dump());
    const ModelSpec shape = load_shape(folder.path(), 1 << 20);
    EXPECT_TRUE(shape.warnings.empty()) << shape.warnings.front();
    EXPECT_EQ(shape.dialect, model_type);
    EXPECT_EQ(shape.encoder.pre_norm, kind == TutorialKind::kAnnotated);
    EXPECT_EQ(shape.decoder.final_norm.has_value(), kind != TutorialKind::kTrevett);
  }
}
}}  // namespace goldcrest::converter
