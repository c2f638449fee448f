// SPDX-License-Identifier: Apache-2.0
// T5, FLAN-T5, mT5, umT5, ByT5 and MADLAD: small random checkpoints of transformers 5.23, in its own layout (0) and in
// version 4's (1), with what it computed from them (tests/peers/t5.py --record).
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "dialects/hugging_face/t5_buckets.h"
#include "dialects/text/languages.h"
#include "evaluate/check.h"
#include "sources/containers/tensor_source.h"
#include "sources/values/json_text.h"
#include "support/expect_error.h"
#include "tokenizers/pack_tokenizer.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter { namespace {
using PieceIds = std::vector<int32_t>;

const Value& t5_recorded() {
  static const Value packed = test::recorded("t5.json");
  return packed;
}

const std::filesystem::path& folders() {
  static const test::PackedFolders unpacked(t5_recorded()["folders"]);
  return unpacked.path();
}

ModelSpec load_t5(const std::filesystem::path& folder, uint32_t max_positions = 0) {
  return load_checkpoint(folder, {{}, {}, {0, "", max_positions}});
}

// A copy of a folder, to change.
class T5Copy {
 public:
  explicit T5Copy(const char* name) {
    std::filesystem::copy(folders() / name, path(), std::filesystem::copy_options::recursive);
  }
  std::filesystem::path path() const { return folder_.path(); }
  void set(const std::string& key, const Value& value) const {
    Value settings = read_json_object(path() / "config.json");
    settings[key] = value;
    std::ofstream(path() / "config.json") << write_json(settings);
  }
 private:
  test::TemporaryFolder folder_;
};

TEST(T5, LayersAndResultsAreThoseOfTransformers) {
  int n = 0;
  for (const auto& [name, files] : t5_recorded()["folders"].members()) {
    const ModelSpec spec = load_t5(folders() / name);
    const CheckReport report = check(Reference(spec), folders() / name, {});
    EXPECT_TRUE(report.passed()) << name << "\n" << to_text(report);
    EXPECT_EQ(report.searches.size(), 2u) << name;
    EXPECT_GT(report.tensors.size(), 5u) << name;
    EXPECT_TRUE(spec.warnings.empty()) << name << ": " << spec.warnings[0];
    ++n;
  }
  EXPECT_EQ(n, 12);
}

// One array of biases serves all layers; only umT5's layers have their own. Layers without weights of a gate have none.
TEST(T5, GraphsAreThoseOfTheFamilies) {
  for (const char* name : {"t5-0", "t5-1", "flan-0", "mt5-0", "umt5-0", "umt5-1", "byt5-0", "madlad-0"}) {
    const ModelSpec spec = load_t5(folders() / name);
    for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
      EXPECT_FALSE(stack->centred || stack->positions_used) << name;
      EXPECT_EQ(stack->gated, std::string(name).substr(0, 2) != "t5") << name;
      EXPECT_EQ(stack->attention_scale, 1.0f) << name;
      std::set<const AttentionBiasSpec*> biases;
      for (const LayerSpec& layer : stack->layers) biases.insert(layer.self_attention->bias.get());
      EXPECT_EQ(biases.size(), std::string(name).starts_with("umt5") ? stack->layers.size() : 1) << name;
    }
  }
}

// Buckets never descend, so the first distance of each tells all.
TEST(T5Buckets, AreTorchsForEveryDistance) {
  constexpr uint32_t kFarthest = 4096;
  size_t n = 0;
  for (const Value& row : t5_recorded()["buckets"]) {
    const Config shape(row, "t5.json", {});
    for (const bool both : {false, true}) {
      const DistanceBuckets buckets = {shape.count("buckets", 0, 1000), shape.count("max_distance", 0, 1000), both};
      const std::vector<uint32_t> found = distance_buckets(buckets, kFarthest, kFarthest);
      ASSERT_EQ(found.size(), 2 * kFarthest + 1);
      const Value& firsts = row[both ? "both" : "one"];
      for (uint32_t distance = 0, bucket = 0; distance <= kFarthest; ++distance, ++n) {
        while (bucket + 1 < firsts.size() && firsts[bucket + 1].number() <= distance) ++bucket;
        EXPECT_EQ(found[kFarthest - distance], bucket) << buckets.n << " " << buckets.max_distance << " " << distance;
        const uint32_t behind = both && distance > 0 ? buckets.n / 2 + bucket : 0;
        EXPECT_EQ(found[kFarthest + distance], behind) << buckets.n << " " << buckets.max_distance << " " << distance;
      }
    }
  }
  EXPECT_EQ(n, 12u * (kFarthest + 1));
}

// The exact values of what the reader computes: a last bit more or less shows.
TEST(T5, TheFactorOfTheLogitsIsInTheLastNorm) {
  for (const char* name : {"t5-0", "umt5-0"}) {
    const T5Copy copy(name);
    copy.set("scale_decoder_outputs", false);
    const ModelSpec scaled = load_t5(folders() / name), plain = load_t5(copy.path());
    const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(plain.decoder.d_model)));
    std::vector<float> expected = plain.decoder.final_norm->gamma;
    for (float& gamma : expected) gamma *= factor;
    EXPECT_EQ(scaled.decoder.final_norm->gamma, expected) << name;
    EXPECT_EQ(scaled.encoder.final_norm->gamma, plain.encoder.final_norm->gamma) << name;
  }
}

TEST(T5, EpsilonIsTheConfigsOrAMillionth) {
  const T5Copy copy("t5-0");
  for (const auto& [value, expected] : {std::pair(Value(), 1e-6f), std::pair(Value(3e-6), 3e-6f)}) {
    copy.set("layer_norm_epsilon", value);
    const ModelSpec spec = load_t5(copy.path());
    EXPECT_EQ(spec.encoder.layers[0].self_attention->norm.epsilon, expected);
    EXPECT_EQ(spec.decoder.final_norm->epsilon, expected);
  }
}

// Every distance has the stored bias of its bucket.
TEST(T5, BiasesAreThoseOfTheirBuckets) {
  for (const char* name : {"t5-0", "umt5-0"}) {
    const ModelSpec spec = load_t5(folders() / name);
    const Config config(folders() / name / "config.json");
    const auto tensors = open_tensors(folders() / name / "model.safetensors");
    for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
      const DistanceBuckets shape = {config.count("relative_attention_num_buckets", 0, 1000),
          config.count("relative_attention_max_distance", 0, 1000), stack == &spec.encoder};
      for (const LayerSpec& layer : stack->layers) {
        const AttentionBiasSpec& bias = *layer.self_attention->bias;
        const std::vector<float> stored = tensors->load(bias.name).values;
        const std::vector<uint32_t> bucket = distance_buckets(shape, bias.before, bias.after);
        for (uint32_t head = 0; head < stack->n_heads; ++head)
          for (size_t i = 0; i < bucket.size(); ++i)
            ASSERT_EQ(bias.row(head)[i], stored[bucket[i] * stack->n_heads + head]) << name << " " << i;
      }
    }
  }
}

TEST(T5, PositionsAreTheUsualOnesUnlessTheConfigOrTheUserSaysMore) {
  EXPECT_EQ(load_t5(folders() / "t5-0").encoder.positions.rows, 512u);
  EXPECT_EQ(load_t5(folders() / "byt5-0").encoder.positions.rows, 1024u);
  const ModelSpec spec = load_t5(folders() / "t5-0", 7);
  EXPECT_EQ(spec.encoder.positions.rows, 7u);
  EXPECT_EQ(spec.decoder.layers[0].self_attention->bias->before, 6u);
  EXPECT_EQ(spec.decoder.layers[0].self_attention->bias->after, 0u);
  EXPECT_EQ(spec.encoder.layers[0].self_attention->bias->after, 6u);
  const T5Copy copy("t5-0");
  copy.set("n_positions", 40);
  EXPECT_EQ(load_t5(copy.path()).encoder.positions.rows, 40u);
  const std::vector<int32_t> source(41, 5);
  test::expect_error([&] { (void)Reference(load_t5(copy.path())).encode(source); }, {"position 40"});
}

// Its ids are bins of numbers, and its last source id is the end.
TEST(T5Text, AChronosHasNoTokenizerAndPositionsForItsContext) {
  const T5Copy copy("t5-0");
  Value settings = Value::map();
  copy.set("chronos_config", settings);
  test::expect_error([&] { load_t5(copy.path()); }, {"\"chronos_config\"", "\"context_length\" is missing"});
  settings["context_length"] = 600;
  copy.set("chronos_config", settings);
  const ModelSpec spec = load_t5(copy.path());
  EXPECT_EQ(spec.encoder.positions.rows, 601u);
  EXPECT_FALSE(spec.source_tokenizer);
}

TEST(T5Text, SentinelsAreControlAndRowsWithoutNamesAreSuppressed) {
  const ModelSpec spec = load_t5(folders() / "t5-0");
  const TokenizerSpec& tokenizer = *spec.source_tokenizer;
  const TokenizerSpec model = read_sentencepiece_model(folders() / "t5-0" / "spiece.model");
  EXPECT_EQ(tokenizer.vocab_size, model.vocab_size + 106);
  EXPECT_EQ(tokenizer.pieces[model.vocab_size + 99].text, "<extra_id_0>");
  EXPECT_EQ(tokenizer.pieces[model.vocab_size].text, "<extra_id_99>");
  EXPECT_EQ(tokenizer.pieces[model.vocab_size].type, PieceType::kControl);
  std::vector<uint32_t> unnamed;
  for (uint32_t id = model.vocab_size + 100; id < tokenizer.vocab_size; ++id) unnamed.push_back(id);
  EXPECT_EQ(std::set<uint32_t>(spec.generation.suppressed_ids.begin(), spec.generation.suppressed_ids.end()),
      std::set<uint32_t>(unnamed.begin(), unnamed.end()));
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{1});
  for (const char* text : {"We are not here.", "a </s> <pad> b", " two  spaces "})
    EXPECT_EQ(Segmenter(tokenizer).encode(text), Segmenter(model).encode(text)) << text;
}

// T5Tokenizer splits a text at them, whether or not a file lists them.
TEST(T5Text, SentinelsOfAPromptAreTheirIds) {
  const TokenizerSpec tokenizer = *load_t5(folders() / "t5-0").source_tokenizer;
  const TokenizerSpec model = read_sentencepiece_model(folders() / "t5-0" / "spiece.model");
  std::vector<int32_t> expected = Segmenter(model).encode("a");
  for (const uint32_t i : {0u, 99u}) {
    expected.push_back(static_cast<int32_t>(model.vocab_size + 99 - i));
    for (const int32_t id : Segmenter(model).encode("b")) expected.push_back(id);
  }
  EXPECT_EQ(Segmenter(tokenizer).encode("a <extra_id_0> b<extra_id_99>b"), expected);
}

TEST(T5Text, AddedTokensWithoutARowOrWithAnothersAreRefused) {
  const auto refused = [](const char* id, const char* text, const std::vector<std::string>& words) {
    const T5Copy copy("t5-0");
    std::ofstream(copy.path() / "added_tokens.json") << '{' << '"' << text << "\": " << id << '}';
    test::expect_error([&] { load_t5(copy.path()); }, words);
  };
  refused("4000000", "<cmd>", {"the added token \"<cmd>\" has the id 4000000", "resize_token_embeddings"});
  refused("5", "<cmd>", {"the added token \"<cmd>\" has the id 5, which the vocabulary gives to"});
  refused("-1", "<cmd>", {"added_tokens.json", "no integer"});
  const T5Copy copy("t5-0");
  std::ofstream(copy.path() / "tokenizer_config.json") << R"({"added_tokens_decoder": {"x": {"content": "<cmd>"}}})";
  test::expect_error([&] { load_t5(copy.path()); }, {"added_tokens_decoder", "\"x\" is not an id with an object"});
}

// MADLAD's language is an entry of its model, which stands after a single U+2581.
TEST(T5Text, TheLanguageOfMadladIsOneIdBehindASpace) {
  const ModelSpec spec = load_t5(folders() / "madlad-0");
  const TokenizerSpec& tokenizer = *spec.source_tokenizer;
  const PieceIds prefix = Segmenter(tokenizer).encode("<2fr>"), text = Segmenter(tokenizer).encode("We are not here.");
  ASSERT_EQ(prefix.size(), 2u);
  EXPECT_EQ(tokenizer.pieces[static_cast<uint32_t>(prefix[0])].text, "\xe2\x96\x81");
  EXPECT_EQ(tokenizer.pieces[static_cast<uint32_t>(prefix[1])].text, "<2fr>");
  PieceIds both = prefix;
  both.insert(both.end(), text.begin(), text.end());
  EXPECT_EQ(Segmenter(tokenizer).encode("<2fr> We are not here."), both);
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{2});
  ASSERT_EQ(spec.languages.entries.size(), 2u);
  const auto french = static_cast<uint32_t>(prefix[1]);
  EXPECT_EQ(spec.languages.find("fr")->target, french);
  EXPECT_EQ(spec.languages.find("fr")->source, std::nullopt);
  for (const std::string target : {"", "fr"}) {
    ModelSpec chosen = spec;
    choose_languages("", target, chosen);
    EXPECT_EQ(chosen.generation.source_prefix.size(), target.empty() ? 1u : 2u);
    EXPECT_EQ(chosen.generation.source_prefix[0], static_cast<uint32_t>(prefix[0]));
    EXPECT_EQ(chosen.generation.source_prefix.back(), target.empty() ? chosen.generation.source_prefix[0] : french);
    EXPECT_EQ(chosen.languages.is_table(), target.empty());
  }
}

TEST(T5Text, BytesAreReadAndWrittenAsTheyAre) {
  const ModelSpec spec = load_t5(folders() / "byt5-0");
  const Segmenter segmenter(*spec.source_tokenizer);
  EXPECT_EQ(segmenter.encode(""), PieceIds{});
  EXPECT_EQ(segmenter.encode(" a  b\n"), (PieceIds{35, 100, 35, 35, 101, 13}));
  EXPECT_EQ(segmenter.encode("\xc3\xa9"), (PieceIds{0xc3 + 3, 0xa9 + 3}));
  for (uint32_t byte = 0; byte < 0x80; ++byte) {
    const char text[] = {'a', static_cast<char>(byte), 'b'};
    EXPECT_EQ(segmenter.encode({text, 3}), (PieceIds{100, static_cast<int32_t>(byte) + 3, 101})) << byte;
  }
  // As SentencePiece, the engine reads U+FFFD where a text is no UTF-8.
  for (uint32_t byte = 0x80; byte < 0x100; ++byte) {
    const char text[] = {static_cast<char>(byte)};
    EXPECT_EQ(segmenter.encode({text, 1}), (PieceIds{0xef + 3, 0xbf + 3, 0xbd + 3})) << byte;
  }
  // Every byte is an entry, so all texts can be written.
  const PackedDetokenizer detokenizer = pack_detokenizer(*spec.target_tokenizer);
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t id = byte + 3, begin = detokenizer.text_offset[id];
    ASSERT_EQ(detokenizer.text_offset[id + 1] - begin, 1u) << byte;
    EXPECT_EQ(static_cast<uint8_t>(detokenizer.text[begin]), byte);
    EXPECT_EQ(detokenizer.type[id], static_cast<uint8_t>(PieceType::kByte));
  }
  for (const uint32_t id : {0u, 1u, 259u, 383u})
    EXPECT_EQ(detokenizer.text_offset[id + 1], detokenizer.text_offset[id]);
}

TEST(T5, SettingsThatAreNotKnownAreRefusedByName) {
  const auto refused = [](const std::string& key, const Value& value, const std::vector<std::string>& words) {
    const T5Copy copy("flan-0");
    copy.set(key, value);
    std::vector<std::string> all = words;
    all.insert(all.end(), {"config.json", key});
    test::expect_error([&] { load_t5(copy.path()); }, all);
  };
  refused("feed_forward_proj", "gated-swiglu", {"gated-swiglu", "gelu_new", "silu"});
  refused("feed_forward_proj", "tanh", {"\"tanh\"", "relu"});
  refused("dense_act_fn", "tanh", {"\"tanh\"", "feed_forward_proj"});
  refused("is_gated_act", false, {"expected true", "feed_forward_proj"});
  refused("is_encoder_decoder", false, {"expected true"});
  refused("tie_encoder_decoder", true, {"expected false"});
  refused("relative_attention_num_buckets", 3, {"3"});
  refused("relative_attention_max_distance", 2, {"2"});
  refused("num_heads", Value(), {"missing", "an integer"});
}

TEST(T5, TablesOfOtherShapesAndMissingFilesAreRefused) {
  const T5Copy heads("t5-0");
  heads.set("num_heads", 7);
  test::expect_error([&] { load_t5(heads.path()); }, {"SelfAttention", "expected"});
  const T5Copy buckets("t5-0");
  buckets.set("relative_attention_num_buckets", 12);
  test::expect_error([&] { load_t5(buckets.path()); }, {"relative_attention_bias", "12"});
  const T5Copy text("t5-0");
  std::filesystem::remove(text.path() / "spiece.model");
  test::expect_error([&] { load_t5(text.path()); }, {"spiece.model", "is missing"});
  const T5Copy small("t5-0");
  std::filesystem::copy_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data/unigram_rules.model",
      small.path() / "spiece.model", std::filesystem::copy_options::overwrite_existing);
  test::expect_error([&] { load_t5(small.path()); }, {"spiece.model", "another model's"});
}
}}  // namespace goldcrest::converter
