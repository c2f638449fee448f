// SPDX-License-Identifier: Apache-2.0
// Compares OpenNMT-py's and fairseq's checkpoints with their formulas, layer by layer (--check), and reads the settings
// that they store with their tensors.
#include <gtest/gtest.h>

#include <cmath>

#include "convert/support/formula_samples.h"
#include "convert/support/toolkit_formula.h"
#include "evaluate/check.h"
#include "spec/error.h"
#include "support/expect_error.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {

using namespace test;

constexpr size_t kMaxTarget = 7;
constexpr ToolkitShape kOpenNmt = {}, kOldOpenNmt = {.is_old = true},
                       kFairseqPost = {.is_fairseq = true, .is_pre_norm = false},
                       kOldFairseq = {.is_fairseq = true, .is_old = true, .is_pre_norm = false},
                       kFairseqPre = {
                           .is_fairseq = true, .is_learned = true, .has_embedding_norm = true, .is_scaled = false};
constexpr ToolkitShape kShapes[] = {kOpenNmt, kOldOpenNmt, kFairseqPost, kOldFairseq, kFairseqPre};

// Translates as the toolkit does. OpenNMT-py begins with <s> and ends with </s>; fairseq uses </s> for both, and gives
// neither empty texts nor padding.
std::vector<int32_t> greedy(const ToolkitFormula& formula, bool is_fairseq, const std::vector<int32_t>& source) {
  const int32_t start = 2, end = is_fairseq ? 2 : 3;
  std::vector<int32_t> inputs = {start}, ids;
  while (ids.empty() || ids.back() != end) {
    test::FormulaRow logits = formula.run(source, inputs).at("logits").back();
    if (is_fairseq) logits[1] = -INFINITY;
    if (is_fairseq && ids.empty()) logits[2] = -INFINITY;
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? end : static_cast<int32_t>(best));
    inputs.push_back(ids.back());
  }
  return ids;
}

std::vector<test::FormulaSample> samples_of(const ToolkitFormula& formula, bool is_fairseq) {
  std::vector<test::FormulaSample> samples;
  for (std::vector<int32_t> source : {std::vector<int32_t>{4, 7, 8, 4, 6}, {5}, {8, 8, 3}}) {
    if (is_fairseq) source.push_back(2);
    const std::vector<int32_t> ids = greedy(formula, is_fairseq, source);
    std::vector<int32_t> inputs = {2};
    inputs.insert(inputs.end(), ids.begin(), ids.end() - 1);
    samples.push_back({source, ids, formula.run(source, inputs)});
  }
  return samples;
}

TEST(Toolkit, LayersAndResultsAreThoseOfTheFormula) {
  for (const ToolkitShape& shape : kShapes) {
    const ToolkitFolder checkpoint(shape);
    const test::SampleFolder samples;
    write_samples(samples_of(ToolkitFormula(checkpoint), shape.is_fairseq), kMaxTarget, samples);
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.dialect, shape.is_fairseq ? "fairseq" : "opennmt_py");
    EXPECT_EQ(spec.warnings.size(), 1u) << "texts are words";
    const CheckReport report = check(Reference(spec), samples.path(), {});
    EXPECT_TRUE(report.passed()) << spec.dialect << shape.is_old << shape.is_pre_norm << "\n" << to_text(report);
    EXPECT_EQ(report.tensors.size(), 6 + (shape.is_pre_norm ? 2 : 0) + 3u) << "embeddings, layers, norms and logits";
    ASSERT_EQ(report.searches.size(), 1u);
    EXPECT_EQ(report.searches[0].equal, 3u);
  }
}

TEST(Toolkit, TheCheckFindsAWrongLayer) {
  for (const ToolkitShape& shape : kShapes) {
    const ToolkitFolder checkpoint(shape);
    const test::SampleFolder samples;
    write_samples(samples_of(ToolkitFormula(checkpoint), shape.is_fairseq), kMaxTarget, samples);
    const auto departs = [&](const char* layer, const auto& make) {
      ModelSpec spec = checkpoint.load();
      make(spec);
      const CheckReport report = check(Reference(spec), samples.path(), {});
      ASSERT_NE(report.first_departure(), nullptr) << layer;
      EXPECT_EQ(report.first_departure()->tensor, layer);
    };
    departs("encoder.embed", [](ModelSpec& spec) { spec.encoder.positions.values.edit()[1] += 0.5f; });
    departs("encoder.layers.0", [](ModelSpec& spec) { spec.encoder.pre_norm = !spec.encoder.pre_norm; });
    departs("decoder.layers.0", [](ModelSpec& spec) {
      std::swap(spec.decoder.layers[0].cross_attention->key, spec.decoder.layers[0].cross_attention->value);
    });
  }
}

std::vector<std::string> texts_of(const TokenizerSpec& tokenizer) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < tokenizer.vocab_size; ++i) texts.push_back(tokenizer.pieces[i].text);
  return texts;
}

TEST(Toolkit, OpenNmtPyTellsItsSettings) {
  for (const ToolkitShape& shape : {kOpenNmt, kOldOpenNmt}) {
    const ToolkitFolder checkpoint(shape);
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.n_heads, 2u);
    EXPECT_TRUE(spec.decoder.pre_norm);
    EXPECT_EQ(spec.encoder.positions.rows, 1024u);
    EXPECT_EQ(spec.decoder.layers[0].feed_forward.norm.epsilon, 1e-6f);
    const GenerationSpec& search = spec.generation;
    EXPECT_EQ(search.decoder_start_id, 2u);
    EXPECT_EQ(search.end_id, 3u);
    EXPECT_EQ(search.pad_id, 1u);
    EXPECT_EQ(search.unknown_id, 0u);
    EXPECT_TRUE(search.source_prefix.empty() && search.source_suffix.empty());
    EXPECT_EQ(search.beam_size, 5u);
    EXPECT_EQ(search.max_target_tokens, 250u);
    EXPECT_EQ(search.rules, RulesSpec{});
    EXPECT_EQ(search.min_target_tokens, 0u);
    EXPECT_EQ(texts_of(*spec.source_tokenizer),
              (std::vector<std::string>{"<unk>", "<blank>", "<s>", "</s>", "a", "b", "c", "d", "e"}));
    EXPECT_EQ(texts_of(*spec.target_tokenizer),
              (std::vector<std::string>{"<unk>", "<blank>", "<s>", "</s>", "x", "y", "z"}));
    EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kWord);
    EXPECT_EQ(spec.warnings[0], checkpoint.weights().string() +
                                    ": there is no SentencePiece model next to it: a text is a list of entries of its "
                                    "vocabulary, separated by spaces");
  }
}

// Before version 1 the vocabularies were a list of pairs.
TEST(Toolkit, OpenNmtPysOldestVocabularies) {
  ToolkitFolder checkpoint(kOldOpenNmt);
  const nlohmann::json tokens = {"<unk>", "<blank>", "<s>", "</s>", "p", "q", "r"};
  const nlohmann::json vocabulary = {{"__class__", "torchtext.vocab Vocab"}, {"itos", tokens}};
  checkpoint.saved["vocab"] =
      nlohmann::json::array({nlohmann::json::array({"src", vocabulary}), nlohmann::json::array({"tgt", vocabulary})});
  EXPECT_EQ(texts_of(*checkpoint.load().target_tokenizer), tokens.get<std::vector<std::string>>());
}

TEST(Toolkit, OpenNmtPysOptionsChangeTheGraph) {
  ToolkitFolder checkpoint(kOpenNmt);
  checkpoint.saved["opt"].update({{"pos_ffn_activation_fn", "gelu"}, {"norm_eps", 1e-4}, {"layers", 2}});
  checkpoint.saved["opt"].erase("dec_layers");
  checkpoint.saved["vocab"]["decoder_start_token"] = "z";
  EXPECT_THROW(checkpoint.load(), Error) << "the decoder does not have 2 layers";
  checkpoint.saved["opt"]["layers"] = -1;
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.activation, Activation::kGelu);
  EXPECT_EQ(spec.encoder.final_norm->epsilon, 1e-4f);
  EXPECT_EQ(spec.generation.decoder_start_id, 6u);

  checkpoint.saved["opt"]["position_encoding_type"] = "SinusoidalConcat";
  for (const char* name : {"encoder.embeddings.make_embedding.pe.pe", "decoder.embeddings.make_embedding.pe.pe"})
    checkpoint.tensors.erase(name);
  const ModelSpec other = checkpoint.load();
  EXPECT_FLOAT_EQ(other.encoder.positions.row(1)[1], std::sin(std::pow(10000.0f, -1.0f / 3)));
  EXPECT_EQ(other.encoder.positions.row(0)[4], 1.0f) << "the cosine of position 0";
}

TEST(Toolkit, FairseqTellsItsSettings) {
  for (const ToolkitShape& shape : {kFairseqPost, kOldFairseq, kFairseqPre}) {
    ToolkitFolder checkpoint(shape);
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.n_heads, 2u);
    EXPECT_EQ(spec.encoder.positions.rows, 16u);
    EXPECT_EQ(spec.encoder.embedding_norm.has_value(), shape.has_embedding_norm);
    EXPECT_EQ(spec.decoder.final_norm.has_value(), shape.is_pre_norm);
    EXPECT_EQ(spec.decoder.embedding_scale, shape.is_scaled ? std::sqrt(8.0f) : 1.0f);
    EXPECT_EQ(spec.encoder.layers[0].feed_forward.norm.epsilon, 1e-5f);
    const GenerationSpec& search = spec.generation;
    EXPECT_EQ(search.decoder_start_id, 2u);
    EXPECT_EQ(search.end_id, 2u);
    EXPECT_EQ(search.pad_id, 1u);
    EXPECT_EQ(search.unknown_id, 3u);
    EXPECT_EQ(search.suppressed_ids, std::vector<uint32_t>{1});
    EXPECT_EQ(search.source_suffix, std::vector<uint32_t>{2});
    EXPECT_EQ(search.beam_size, 5u);
    EXPECT_EQ(search.rules, RulesSpec{.early_stopping = EarlyStopping::kFull});
    EXPECT_EQ(search.max_target_tokens, 16u) << "201, or the number of positions";
    EXPECT_EQ(search.min_target_tokens, 2u);
    EXPECT_EQ(spec.source_language + spec.target_language, "deen");
    EXPECT_EQ(texts_of(*spec.source_tokenizer),
              (std::vector<std::string>{"<s>", "<pad>", "</s>", "<unk>", "a", "b", "c", "madeupword0000", "d"}));
    EXPECT_EQ(texts_of(*spec.target_tokenizer),
              (std::vector<std::string>{"<s>", "<pad>", "</s>", "<unk>", "x", "y", "z"}));
    const auto& files = spec.tokenizer_files;
    for (const char* name : {"dict.de.txt", "dict.en.txt"})
      EXPECT_NE(std::find(files.begin(), files.end(), checkpoint.folder / name), files.end()) << name;
    EXPECT_EQ(spec.warnings[0], checkpoint.weights().string() +
                                    ": there is no SentencePiece model next to it: a text is a list of entries of " +
                                    (checkpoint.folder / "dict.de.txt").string() + ", separated by spaces");
  }
}

TEST(Toolkit, FairseqsTablesMayBeShared) {
  ToolkitFolder checkpoint({.is_fairseq = true, .is_old = true, .is_pre_norm = false});
  checkpoint.tensors.erase("decoder.embed_out");
  checkpoint.saved["args"]["share_decoder_input_output_embed"] = true;
  ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.projection.weight, spec.decoder.embedding);
  // A group of settings is an object of its own, as in a dataclass.
  checkpoint.saved["args"]["activation_fn"] = "gelu_fast";
  checkpoint.saved["args"].erase("encoder_attention_heads");
  checkpoint.saved["args"]["encoder"] = {{"attention_heads", 4}};
  spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.activation, Activation::kGeluTanh);
  EXPECT_EQ(spec.encoder.n_heads, 4u);
}

// The decoder before version 3, and the encoder before version 2, had no norm after the stack.
TEST(Toolkit, FairseqsOldDecodersHaveNoLastNorm) {
  ToolkitFolder checkpoint({.is_fairseq = true});
  for (const char* end : {".weight", ".bias"}) checkpoint.tensors.erase("decoder.layer_norm" + std::string(end));
  EXPECT_THROW(checkpoint.load(), Error);
  checkpoint.tensors["decoder.version"].values = {2};
  EXPECT_FALSE(checkpoint.load().decoder.final_norm.has_value());
  checkpoint.tensors["decoder.version"].values = {3};
  checkpoint.saved["cfg"]["model"]["no_decoder_final_norm"] = true;
  EXPECT_FALSE(checkpoint.load().decoder.final_norm.has_value());
}

// fairseq 0.12 keeps these copies for each encoder layer and never reads them.
TEST(Toolkit, FairseqsCopiesChangeNothing) {
  ToolkitFolder checkpoint({.is_fairseq = true});
  for (const char* copy : {"in_proj_weight", "fc1_bias", "out_proj_weight"})
    checkpoint.add("encoder.layers.1." + std::string(copy), {3});
  EXPECT_EQ(checkpoint.load().warnings.size(), 1u);
}

TEST(Toolkit, AConfigComesFirst) {
  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.files["config.json"] = R"({"beam_size": 2, "source_language": "fr", "name": "small", "sauce": 1,
                                        "encoder_max_positions": 12})";
  checkpoint.files["dict.fr.txt"] = "q 1\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.beam_size, 2u);
  EXPECT_EQ(spec.source_language, "fr");
  EXPECT_EQ(spec.name, "small");
  EXPECT_EQ(spec.encoder.positions.rows, 12u);
  EXPECT_EQ(spec.source_tokenizer->pieces[4].text, "q");
  const std::string setting = checkpoint.weights().string() + ": setting \"source_vocabulary\"";
  ASSERT_EQ(spec.warnings.size(), 3u);
  EXPECT_EQ(spec.warnings[0], setting + ": 4 of the embedding's 9 ids have no text");
  EXPECT_EQ(spec.warnings[1], checkpoint.weights().string() + ": setting \"sauce\" is not known and was ignored");

  const test::TemporaryFolder elsewhere;
  LoadOptions options;
  options.config = elsewhere.write("my.json", R"({"model_type": "fairseq", "beam_size": 3})");
  EXPECT_EQ(checkpoint.load(options).generation.beam_size, 3u);
}

TEST(Toolkit, ASentencePieceModelBesideItCutsTexts) {
  const std::filesystem::path model =
      std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data/opus-mt-en-mg/source.spm";
  const TokenizerSpec pieces = read_sentencepiece_model(model);
  ToolkitFolder checkpoint(kOpenNmt);
  constexpr uint32_t kPieces = 40;
  for (const char* side : {"src", "tgt"}) {
    nlohmann::json tokens = {"<unk>", "<blank>", "<s>", "</s>"};
    for (uint32_t i = 0; i < kPieces; ++i) tokens.push_back(pieces.pieces[10 + i].text);
    checkpoint.saved["vocab"][side] = tokens;
  }
  for (const char* stack : {"encoder", "decoder"})
    checkpoint.add(checkpoint.table(stack), {kPieces + 4, ToolkitFolder::kWidth});
  checkpoint.add("generator.weight", {kPieces + 4, ToolkitFolder::kWidth});
  checkpoint.add("generator.bias", {kPieces + 4});
  std::filesystem::copy_file(model, checkpoint.folder / "bpe.en.model");
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings[0];
  EXPECT_EQ(spec.source_tokenizer->kind, pieces.kind);
  EXPECT_EQ(spec.target_tokenizer->pieces[4].text, pieces.pieces[10].text);
  EXPECT_EQ(spec.tokenizer_files[0], checkpoint.folder / "bpe.en.model");
}

TEST(Toolkit, MergesBesideItCutTexts) {
  for (const char* name : {"bpecodes", "codes.32k", "ende30k.fastbpe.code"}) {
    ToolkitFolder checkpoint(kFairseqPost);
    checkpoint.files["dict.de.txt"] = "ab@@ 9\nb 8\nc 7\nmadeupword0000 0\na@@ 5\n";
    checkpoint.files[name] = "a b 3\n";
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings[0];
    EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kSubword);
    EXPECT_EQ(Segmenter(*spec.source_tokenizer).encode("abb ab c abx"), (std::vector<int32_t>{4, 5, 8, 5, 6, 4, 3}));
    EXPECT_EQ(spec.tokenizer_files[0], checkpoint.folder / name);
  }
  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.files["codes.1"] = checkpoint.files["codes.2"] = "a b 3\n";
  test::expect_error([&] { checkpoint.load(); },
                     {checkpoint.folder.path().string() +
                      ": which of 2 files of subword-nmt's merges cut texts is not known; expected one, or two whose "
                      "names have \"source\" and \"target\""});
}

}  // namespace
}  // namespace goldcrest::converter
