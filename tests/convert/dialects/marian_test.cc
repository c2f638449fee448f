// SPDX-License-Identifier: Apache-2.0
// Marian checkpoints: the meaning of their tensors, settings and files.
#include "convert/support/marian_folder.h"
#include "dialects/dialect.h"
#include "dialects/positions.h"

namespace goldcrest::converter { namespace {
using namespace test;

const std::filesystem::path kModels = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models";

TEST(Marian, FillsTheWholeModel) {
  MarianFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.dialect, "marian");
  EXPECT_EQ(spec.source_language, "en");
  EXPECT_EQ(spec.checkpoint_sha256.size(), 64u);
  const StackSpec& encoder = spec.encoder;
  EXPECT_EQ(encoder.layers.size(), 2u);
  EXPECT_EQ(encoder.d_ff, 12u);
  EXPECT_EQ(encoder.n_heads, 2u);
  EXPECT_EQ(encoder.d_head, 4u);
  EXPECT_EQ(encoder.attention_scale, 0.5f);
  EXPECT_EQ(encoder.embedding_scale, std::sqrt(8.0f));
  EXPECT_EQ(encoder.activation, Activation::kSilu);
  EXPECT_FALSE(encoder.pre_norm || encoder.final_norm || encoder.embedding_norm);
  EXPECT_FALSE(encoder.layers[0].cross_attention);
  const StackSpec& decoder = spec.decoder;
  EXPECT_EQ(decoder.layers.size(), 1u);
  EXPECT_EQ(decoder.d_ff, 20u);
  EXPECT_EQ(decoder.n_heads, 4u);
  EXPECT_EQ(encoder.embedding, decoder.embedding);
  EXPECT_EQ(spec.projection.weight, decoder.embedding);
  EXPECT_EQ(spec.projection.bias, checkpoint.tensor("final_logits_bias").values);
  ASSERT_TRUE(decoder.layers[0].cross_attention);
  EXPECT_EQ(decoder.layers[0].cross_attention->key.weight->values,
      checkpoint.tensor("model.decoder.layers.0.encoder_attn.k_proj.weight").values);
  EXPECT_EQ(decoder.layers[0].cross_attention->norm.beta,
      checkpoint.tensor("model.decoder.layers.0.encoder_attn_layer_norm.bias").values);
  EXPECT_EQ(encoder.layers[1].feed_forward.out.bias, checkpoint.tensor("model.encoder.layers.1.fc2.bias").values);
  EXPECT_EQ(encoder.positions.values, sinusoid_table({}, 16, 8).values);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6000u);
  EXPECT_EQ(spec.target_tokenizer->pieces[5].text, "\u2581I");
}

TEST(Marian, BothContainersGiveTheSameModel) {
  MarianFolder checkpoint;
  const ModelSpec expected = checkpoint.load();
  std::filesystem::remove(checkpoint.folder / "model.safetensors");
  std::ofstream stream(checkpoint.folder / "pytorch_model.bin", std::ios::binary);
  write_torch_zip(stream, checkpoint.tensors, ElementType::kF32,
      {{"model.encoder.embed_tokens.weight", 0}, {"model.decoder.embed_tokens.weight", 0}, {"lm_head.weight", 0}});
  stream.close();
  const ModelSpec spec = load_checkpoint(checkpoint.folder / "pytorch_model.bin", {});
  EXPECT_TRUE(spec.warnings.empty());
  EXPECT_EQ(spec.decoder.embedding, spec.encoder.embedding);
  EXPECT_EQ(spec.decoder.embedding->values, expected.decoder.embedding->values);
  EXPECT_EQ(spec.encoder.layers[1].self_attention->query.weight->values,
      expected.encoder.layers[1].self_attention->query.weight->values);
}

TEST(Marian, ReadsGenerationSettings) {
  MarianFolder checkpoint;
  const GenerationSpec from_config = checkpoint.load().generation;
  EXPECT_EQ(from_config.decoder_start_id, 5999u);
  EXPECT_EQ(from_config.end_id, 0u);
  EXPECT_EQ(from_config.pad_id, 5999u);
  EXPECT_EQ(from_config.unknown_id, 1u);
  EXPECT_EQ(from_config.suppressed_ids, std::vector<uint32_t>{5999});
  EXPECT_EQ(from_config.source_suffix, std::vector<uint32_t>{0});
  EXPECT_EQ(from_config.beam_size, 4u);
  EXPECT_EQ(from_config.max_target_tokens, 15u);  // max_length counts the start token
  EXPECT_FALSE(from_config.forced_first_id);

  checkpoint.folder.write("generation_config.json",
      R"({"num_beams": 6, "max_length": 9, "min_length": 3, "length_penalty": 0.5,
          "forced_bos_token_id": 7, "bad_words_ids": [[5999], [3], [0], [1, 2]], "suppress_tokens": [4],
          "eos_token_id": 0, "pad_token_id": 5999, "decoder_start_token_id": 5999, "forced_eos_token_id": 0,
          "encoder_repetition_penalty": 1.5, "early_stopping": false})");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.beam_size, 6u);
  EXPECT_EQ(spec.generation.max_target_tokens, 8u);
  EXPECT_EQ(spec.generation.min_target_tokens, 3u);
  EXPECT_EQ(spec.generation.length_penalty, 0.5f);
  EXPECT_EQ(spec.generation.forced_first_id, 7u);
  EXPECT_EQ(spec.generation.suppressed_ids, (std::vector<uint32_t>{3, 4, 5999}));  // without the end token
  ASSERT_EQ(spec.generation.sequences.list.size(), 1u);
  EXPECT_EQ(spec.generation.sequences.list[0].ids, (std::vector<uint32_t>{1, 2}));
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_TRUE(has(spec.warnings[0], "encoder_repetition_penalty"));
}

TEST(Marian, LimitsTheTargetToTheDecodersPositions) {
  MarianFolder checkpoint;
  checkpoint.config["max_length"] = 512;
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.max_target_tokens, 16u);
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_TRUE(has(spec.warnings[0], "511"));
}

TEST(Marian, HonoursTheSettingsOfOlderVersions) {
  MarianFolder checkpoint;
  checkpoint.config["normalize_before"] = checkpoint.config["normalize_embedding"] =
      checkpoint.config["add_final_layer_norm"] = true;
  checkpoint.config["static_position_embeddings"] = checkpoint.config["scale_embedding"] = false;
  for (const std::string stack : {"model.encoder", "model.decoder"}) {
    checkpoint.add_norm(stack + ".layernorm_embedding", 2);
    checkpoint.add_norm(stack + ".layer_norm", 3);
    checkpoint.add(stack + ".embed_positions.weight", {16, 8}, 0.25f);
  }
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty());
  for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    EXPECT_TRUE(stack->pre_norm);
    EXPECT_EQ(stack->embedding_norm->gamma, std::vector<float>(8, 2));
    EXPECT_EQ(stack->final_norm->beta, std::vector<float>(8, -3));
    EXPECT_EQ(stack->positions.values, std::vector<float>(128, 0.25f));
    EXPECT_EQ(stack->embedding_scale, 1.0f);
  }
}

TEST(Marian, UsesStoredPositions) {
  MarianFolder checkpoint;
  const Matrix right = sinusoid_table({}, 16, 8);
  checkpoint.tensors.push_back({"model.encoder.embed_positions.weight", {16, 8}, right.values.get()});
  std::vector<float>& half = checkpoint.tensors.back().values;
  half[5] += 4e-4f;  // as if rounded to half precision
  const std::vector<float> stored = half;
  const Matrix native = sinusoid_table({false, true, 0, 10000}, 16, 8);
  checkpoint.tensors.push_back({"model.decoder.embed_positions.weight", {16, 8}, native.values.get()});
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.positions.values, stored);  // transformers does the same
  EXPECT_EQ(spec.decoder.positions.values, native.values);
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_EQ(spec.warnings[0], (checkpoint.folder / "model.safetensors").string() +
                                  ": tensor \"model.decoder.embed_positions.weight\" is not the table of sinusoids "
                                  "that Marian models have (differs by up to 0.697); the stored table is used");
}

TEST(Marian, ReadsSeparateVocabularies) {
  MarianFolder checkpoint;
  checkpoint.config.update({{"share_encoder_decoder_embeddings", false}, {"decoder_vocab_size", 5}});
  checkpoint.config["pad_token_id"] = checkpoint.config["decoder_start_token_id"] = 4;
  checkpoint.config["bad_words_ids"] = {{4}};
  checkpoint.config["tie_word_embeddings"] = false;
  checkpoint.tensor("model.shared.weight").name = "model.encoder.embed_tokens.weight";
  checkpoint.add("model.decoder.embed_tokens.weight", {5, 8}, 0.5f);
  checkpoint.add("lm_head.weight", {5, 8}, 0.75f);
  checkpoint.remove("final_logits_bias");
  checkpoint.folder.write("target_vocab.json", R"({"<pad>": 4, "</s>": 2, "<unk>": 3, "a": 0, "b": 1})");
  checkpoint.config["eos_token_id"] = 2;
  checkpoint.folder.write("tokenizer_config.json", R"({"separate_vocabs": true, "eos_token": {"content": "</s>"}})");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.embedding->rows, 6000u);
  EXPECT_EQ(spec.decoder.embedding->values, std::vector<float>(40, 0.5f));
  EXPECT_EQ(spec.projection.weight->values, std::vector<float>(40, 0.75f));
  EXPECT_EQ(spec.projection.bias, std::vector<float>(5, 0.0f));
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{0});  // the source vocabulary's end token
  EXPECT_EQ(spec.generation.end_id, 2u);
  EXPECT_EQ(spec.generation.unknown_id, 3u);
  EXPECT_EQ(spec.target_tokenizer->vocab_size, 5u);

  checkpoint.folder.write("tokenizer_config.json", "{}");
  expect_error([&] { checkpoint.load(); }, {"target_vocab.json", "separate_vocabs"});
}

constexpr const char* kTables[] = {
    "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"};

// The tables as transformers 5.2 saves and loads them, for each pair of the flags. Their values identify them.
TEST(Marian, EveryPlaceHasTheTableThatTransformersGivesIt) {
  struct Case {
    bool shared, tied;
    std::vector<int> stored;  // indices into kTables
    float encoder, decoder, head;
    const char* warning;
  };
  const Case cases[] = {
      {true, true, {0}, 0, 0, 0, nullptr},
      {true, false, {0, 1, 2, 3}, 1, 2, 3,
          "\"model.shared.weight\" is not used: the encoder and the decoder have tables of their own, as transformers "
          "5 saves them if \"tie_word_embeddings\" is false"},
      {true, false, {0, 3}, 0, 0, 3, nullptr},  // transformers 4
      {true, false, {1, 2, 3}, 1, 2, 3, nullptr},
      {false, true, {1, 2}, 1, 2, 2, nullptr},
      {false, true, {1, 3}, 1, 3, 3, nullptr},
      {false, false, {1, 2, 3}, 1, 2, 3, nullptr},
      // Tied tables that are stored separately with other values: transformers 5 uses each in its own place.
      {true, true, {0, 3}, 0, 0, 3,
          "\"lm_head.weight\" differs from \"model.shared.weight\", although config.json ties them; each is used in "
          "its own place, as transformers 5 does and 4 did not"},
      {false, true, {1, 2, 3}, 1, 2, 3,
          "\"lm_head.weight\" differs from \"model.decoder.embed_tokens.weight\", although config.json ties them; each "
          "is used in its own place, as transformers 5 does and 4 did not"},
      // If there is no shared table, the first of the others serves every place without a table.
      {true, true, {2}, 2, 2, 2, nullptr},
      {true, true, {1, 2}, 1, 2, 2,
          "\"model.encoder.embed_tokens.weight\" differs from \"model.decoder.embed_tokens.weight\", although "
          "config.json ties them; each is used in its own place, as transformers 5 does and 4 did not"},
  };
  for (const Case& c : cases) {
    MarianFolder checkpoint;
    checkpoint.remove("model.shared.weight");
    for (const int table : c.stored) checkpoint.add(kTables[table], {6000, 8}, static_cast<float>(table));
    checkpoint.config["share_encoder_decoder_embeddings"] = c.shared;
    checkpoint.config["tie_word_embeddings"] = c.tied;
    const ModelSpec spec = checkpoint.load();
    const std::string name = format_text("shared {}, tied {}, {} tables", c.shared, c.tied, c.stored.size());
    EXPECT_EQ(spec.encoder.embedding->values[9], c.encoder) << name;
    EXPECT_EQ(spec.decoder.embedding->values[9], c.decoder) << name;
    EXPECT_EQ(spec.projection.weight->values[9], c.head) << name;
    EXPECT_EQ(spec.encoder.embedding == spec.decoder.embedding, c.encoder == c.decoder) << name;
    EXPECT_EQ(spec.projection.weight == spec.decoder.embedding, c.head == c.decoder) << name;
    std::vector<std::string> warnings;
    if (c.warning != nullptr)
      warnings.push_back((checkpoint.folder / "model.safetensors").string() + ": tensor " + c.warning);
    EXPECT_EQ(spec.warnings, warnings) << name;
  }
}

TEST(Marian, WarnsOfWhatItDidNotUse) {
  MarianFolder checkpoint;
  checkpoint.add("model.encoder.layers.2.fc1.weight", {12, 8}, 1);
  checkpoint.add("lm_head.weight", {6000, 8}, 1);
  const ModelSpec spec = checkpoint.load();
  ASSERT_EQ(spec.warnings.size(), 2u);
  EXPECT_TRUE(has(spec.warnings[0], "\"lm_head.weight\" differs from \"model.shared.weight\""));
  EXPECT_TRUE(has(spec.warnings[1], "1 tensors were not used: \"model.encoder.layers.2.fc1.weight\""));
}

TEST(Marian, TakesNameAndLicenceFromTheCheckpoint) {
  MarianFolder checkpoint;
  EXPECT_EQ(checkpoint.load().name, checkpoint.folder.path().filename());
  checkpoint.folder.write(
      "README.md", "---\nlanguage:\n- en\nlicense: \"cc-by-4.0\"\nattribution: Someone\n---\nlicense: mit\n");
  checkpoint.config["_name_or_path"] = "Helsinki-NLP/opus-mt-en-fr";
  ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.name, "Helsinki-NLP/opus-mt-en-fr");
  EXPECT_EQ(spec.license, "cc-by-4.0");
  EXPECT_EQ(spec.attribution, "Someone");
  checkpoint.config["license"] = "apache-2.0";
  EXPECT_EQ(checkpoint.load().license, "apache-2.0");
}

TEST(Marian, NamesASnapshotOfACacheByItsRepository) {
  MarianFolder checkpoint;
  checkpoint.load();
  const std::filesystem::path snapshot = checkpoint.folder / "models--Helsinki-NLP--opus-mt-en-fr/snapshots/0123abcd";
  std::filesystem::create_directories(snapshot);
  for (const char* name : {"config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"})
    std::filesystem::create_symlink(checkpoint.folder / name, snapshot / name);
  EXPECT_EQ(load_checkpoint(snapshot, {}).name, "Helsinki-NLP/opus-mt-en-fr");
}

TEST(LoadCheckpoint, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  expect_error([&] { load_checkpoint(folder / "absent", {}); }, {"absent", "no such file or directory"});
  expect_error([&] { load_checkpoint(folder.path(), {}); }, {"config.json", "missing", "NN_TRANSFORMER.md"});
  folder.write("config.json", "");
  expect_error([&] { load_checkpoint(folder.path(), {}); }, {"config.json", "empty"});
  folder.write("config.json", std::string(100'000, '['));
  expect_error([&] { load_checkpoint(folder.path(), {}); }, {"config.json", "nested"});
  folder.write("config.json", "{\"model_type\": \"marian\"}");
  expect_error([&] { load_checkpoint(folder.path(), {}); }, {"holds no weights"});
}

TEST(LoadCheckpoint, ReadsTheTrainedModel) {
  const ModelSpec spec = load_checkpoint(kModels / "enfr", {});
  EXPECT_TRUE(spec.warnings.empty());
  EXPECT_EQ(spec.encoder.layers.size(), 4u);
  EXPECT_EQ(spec.decoder.layers.size(), 2u);
  EXPECT_EQ(spec.decoder.embedding->rows, 6000u);
  EXPECT_EQ(spec.generation.max_target_tokens, 127u);
  // cat model.safetensors vocab.json source.spm target.spm | sha256sum
  EXPECT_EQ(spec.checkpoint_sha256, "68e50254b211a5720f1816bb41033ca7665d82721f343cb25975d72ae3f6b511");
}

// Every broken Marian checkpoint that a download or an edit can leave behind.

using nlohmann::json;
using test::MarianFolder;

struct BadCheckpoint {
  const char* name;
  std::function<void(MarianFolder&)> change;
  std::vector<std::string> words;
};

std::function<void(MarianFolder&)> setting(const char* key, const json& value) {
  return [key, value](MarianFolder& c) { c.config[key] = value; };
}
std::function<void(MarianFolder&)> no_setting(const char* key) {
  return [key](MarianFolder& c) { c.config.erase(key); };
}

void expect_refused(const std::vector<BadCheckpoint>& cases) {
  for (const BadCheckpoint& bad : cases) {
    MarianFolder checkpoint;
    bad.change(checkpoint);
    expect_error([&] { checkpoint.load(); }, bad.words, bad.name);
  }
}

TEST(Marian, RefusesBrokenTensors) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const std::string fc1 = "model.encoder.layers.1.fc1.weight", beta = "model.decoder.layers.0.final_layer_norm.bias";
  const auto stored = [](const std::string& name, const std::vector<size_t>& shape, size_t n_values) {
    return [=](MarianFolder& c) { c.tensor(name) = NamedTensor{name, shape, std::vector<float>(n_values)}; };
  };
  expect_refused({
      {"missing matrix", [&](auto& c) { c.remove(fc1); }, {"model.safetensors", fc1, "missing"}},
      {"missing norm", [&](auto& c) { c.remove(beta); }, {"model.safetensors", beta, "missing"}},
      {"missing embedding", [](auto& c) { c.remove("model.shared.weight"); }, {"model.shared.weight", "missing"}},
      {"wrong rows", stored(fc1, {13, 8}, 104), {"model.safetensors", fc1, "[13, 8]", "expected [12, 8]"}},
      {"transposed", stored(fc1, {8, 12}, 96), {fc1, "[8, 12]", "expected [12, 8]"}},
      {"flat", stored(fc1, {96}, 96), {fc1, "[96]", "expected [12, 8]"}},
      {"wrong length", stored(beta, {7}, 7), {beta, "[7]", "expected [8]"}},
      {"scalar", stored(beta, {}, 1), {beta, "[]", "expected [8]"}},
      {"NaN", [&](auto& c) { c.tensor(fc1).values[19] = kNan; }, {"model.safetensors", fc1, "nan", "[2, 3]"}},
      {"infinity", [&](auto& c) { c.tensor(beta).values[7] = -kInfinity; }, {beta, "-inf", "[7]"}},
      {"NaN in the table", [](auto& c) { c.tensor("model.shared.weight").values[8 * 5999] = kNan; },
          {"model.shared.weight", "[5999, 0]"}},
      {"one layer less", setting("encoder_layers", 3), {"model.encoder.layers.2.self_attn.q_proj.weight", "missing"}},
      {"another vocabulary", setting("vocab_size", 6001), {"model.shared.weight", "[6000, 8]", "[6001, 8]"}},
      {"final norm missing", setting("add_final_layer_norm", true), {"model.encoder.layer_norm.weight", "missing"}},
      {"learned positions missing", setting("static_position_embeddings", false),
          {"model.encoder.embed_positions.weight", "missing"}},
      {"untied projection missing", setting("tie_word_embeddings", false), {"lm_head.weight", "missing"}},
  });
}

TEST(Marian, RefusesBrokenSettings) {
  expect_refused({
      {"no d_model", no_setting("d_model"), {"config.json", "\"d_model\" is missing"}},
      {"d_model a text", setting("d_model", "8"), {"config.json", "\"d_model\"", "expected an integer"}},
      {"negative layers", setting("decoder_layers", -1), {"\"decoder_layers\" is \"-1\"", "from 1 to 256"}},
      {"heads", setting("encoder_attention_heads", 3), {"encoder_attention_heads", "3", "divisor of d_model 8"}},
      {"activation", setting("activation_function", "elu"), {"activation_function", "elu", "relu, gelu"}},
      {"no activation", no_setting("activation_function"), {"activation_function", "missing"}},
      {"many positions", setting("max_position_embeddings", 4'000'000'000u), {"max_position_embeddings"}},
      {"flag a number", setting("scale_embedding", 1), {"scale_embedding", "expected true or false"}},
      {"end token out of range", setting("eos_token_id", 6000), {"eos_token_id", "6000", "from 0 to 5999"}},
      {"no end token", no_setting("eos_token_id"), {"eos_token_id", "missing"}},
      {"forced end differs", setting("forced_eos_token_id", 5), {"forced_eos_token_id", "5", "end token 0"}},
      {"banned token out of range", setting("bad_words_ids", {{6000}}), {"bad_words_ids", "below 6000"}},
      {"minimum above positions",
          [](auto& c) {
            c.config.erase("max_length");
            c.config["min_length"] = 17;
          },
          {"config.json: setting \"min_length\" is 17, but the decoder has 16 positions: make it smaller"}},
      {"minimum above new tokens",
          [](auto& c) {
            c.config.update({{"min_length", 9}, {"max_new_tokens", 5}});
          },
          {"config.json: setting \"min_length\" is 9, but ",
              "config.json: setting \"max_new_tokens\" is 5: transformers would warn of it and stop after 5 tokens; "
              "make the first smaller or the second larger"}},
      {"minimum of new tokens",
          [](auto& c) {
            c.folder.write("generation_config.json", R"({"eos_token_id": 0, "min_new_tokens": 8, "max_length": 9})");
          },
          {"generation_config.json: setting \"min_new_tokens\" is 8, but ",
              "generation_config.json: setting \"max_length\" is 9: transformers would warn of it and stop after 8 "
              "tokens"}},
      {"another model", setting("model_type", "led"),
          {"config.json", "led", "not supported", "marian", "nn_transformer"}},
      {"no model type", no_setting("model_type"), {"model_type", "missing", "marian"}},
      {"config is a list", [](auto& c) { c.config = json::array(); }, {"config.json", "expected an object"}},
  });
}

TEST(Marian, RefusesBrokenTokenizerFiles) {
  const auto remove = [](const char* name) {
    return [name](MarianFolder& c) { std::filesystem::remove(c.folder / name); };
  };
  const auto write = [](const char* name, const std::string& text) {
    return [name, text](MarianFolder& c) { c.folder.write(name, text); };
  };
  expect_refused({
      {"no source.spm", remove("source.spm"), {"source.spm", "missing", "copy it"}},
      {"no target.spm", remove("target.spm"), {"target.spm", "missing"}},
      {"no vocab.json", remove("vocab.json"), {"vocab.json", "missing"}},
      {"spm is a pointer", write("source.spm", "version https://git-lfs.github.com/spec/v1\n"),
          {"source.spm", "Git LFS pointer"}},
      {"spm is a page", write("target.spm", "<!DOCTYPE html>"), {"target.spm", "web page"}},
      {"vocabulary is a pointer", write("vocab.json", "version https://git-lfs.github.com/spec/v1\n"),
          {"vocab.json", "Git LFS"}},
      {"vocabulary is broken", write("vocab.json", "{\"a\": 1"), {"vocab.json", "not valid JSON"}},
      {"id beyond the embedding", write("vocab.json", "{\"a\": 6000}"), {"vocab.json", "\"a\"", "6000"}},
      {"id used twice", write("vocab.json", "{\"a\": 1, \"b\": 1}"), {"vocab.json", "same id 1"}},
      {"text used twice", write("vocab.json", "{\"a\": 1, \"a\": 2}"), {"vocab.json", "\"a\" twice"}},
      {"id a text", write("vocab.json", "{\"a\": \"1\"}"), {"vocab.json", "\"a\"", "integer"}},
      {"no unknown token", write("vocab.json", "{\"a\": 1}"), {"vocab.json", "<unk>"}},
      {"tokenizer_config is broken", write("tokenizer_config.json", "["), {"tokenizer_config.json", "not valid JSON"}},
      {"generation_config is a page", write("generation_config.json", "<html>"),
          {"generation_config.json", "web page"}},
      {"no target_vocab.json", write("tokenizer_config.json", "{\"separate_vocabs\": true}"),
          {"target_vocab.json", "missing"}},
  });
}

// The ids of two entries of vocab.json change places.
void swap_entries(const MarianFolder& checkpoint, const char* first, const char* second) {
  std::ifstream stream(checkpoint.folder / "vocab.json");
  json ids = json::parse(stream);
  std::swap(ids.at(first), ids.at(second));
  checkpoint.folder.write("vocab.json", ids.dump());
}

TEST(Marian, RefusesAnotherCheckpointsSpecialIds) {
  expect_refused({{"end", [](auto& c) { swap_entries(c, "</s>", "s"); },
                      {"/vocab.json: the end token \"</s>\" has the id 4, but ",
                          "/config.json: setting \"eos_token_id\" is 0, which is \"s\"; expected the same id in both: "
                          "copy both files from where the checkpoint came from"}},
      {"end of generation_config.json",
          [](auto& c) {
            c.config["forced_eos_token_id"] = 3;
            c.folder.write("generation_config.json", R"({"eos_token_id": [3, 4], "max_length": 9})");
          },
          {"the end token \"</s>\" has the id 0, but ",
              "/generation_config.json: setting \"eos_token_id\" is 3, which"}}});
  MarianFolder checkpoint;
  checkpoint.folder.write("generation_config.json", R"({"eos_token_id": [3, 0], "max_length": 9})");
  EXPECT_EQ(checkpoint.load().generation.end_id, 3u) << "one of two ends";
}

TEST(Marian, WarnsOfAnotherCheckpointsPadding) {
  MarianFolder checkpoint;
  swap_entries(checkpoint, "<pad>", "s");
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  const std::string folder = checkpoint.folder.path().string();
  EXPECT_EQ(
      std::ranges::count(warnings, folder + "/vocab.json: the padding token \"<pad>\" has the id 4, but " + folder +
                                       "/config.json: setting \"pad_token_id\" is 5999, which is \"s\"; if texts come "
                                       "out wrong, copy both files from where the checkpoint came from"),
      1)
      << warnings.size();
}
}}  // namespace goldcrest::converter
