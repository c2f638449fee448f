// SPDX-License-Identifier: Apache-2.0
// Compares OpenNMT-py's and fairseq's checkpoints with their formulas, layer by layer (--check), and reads the settings
// that they store with their tensors.
#include "convert/support/formula_samples.h"
#include "convert/support/toolkit_formula.h"
#include "dialects/config_template.h"
#include "evaluate/check.h"
#include "support/expect_error.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter { namespace {
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
    FormulaRow logits = formula.run(source, inputs).at("logits").back();
    if (is_fairseq) logits[1] = -INFINITY;
    if (is_fairseq && ids.empty()) logits[2] = -INFINITY;
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? end : static_cast<int32_t>(best));
    inputs.push_back(ids.back());
  }
  return ids;
}

std::vector<FormulaSample> samples_of(const ToolkitFormula& formula, bool is_fairseq) {
  std::vector<FormulaSample> samples;
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
    const SampleFolder samples;
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
    const SampleFolder samples;
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
    EXPECT_EQ(
        texts_of(*spec.target_tokenizer), (std::vector<std::string>{"<unk>", "<blank>", "<s>", "</s>", "x", "y", "z"}));
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
    EXPECT_EQ(search.rules, RulesSpec{.early_stopping = GOLDCREST_STOP_FULL});
    EXPECT_EQ(search.max_target_tokens, 16u) << "201, or the number of positions";
    EXPECT_EQ(search.min_target_tokens, 2u);
    EXPECT_EQ(spec.source_language + spec.target_language, "deen");
    EXPECT_EQ(texts_of(*spec.source_tokenizer),
        (std::vector<std::string>{"<s>", "<pad>", "</s>", "<unk>", "a", "b", "c", "madeupword0000", "d"}));
    EXPECT_EQ(
        texts_of(*spec.target_tokenizer), (std::vector<std::string>{"<s>", "<pad>", "</s>", "<unk>", "x", "y", "z"}));
    const auto& files = spec.tokenizer_files;
    for (const char* name : {"dict.de.txt", "dict.en.txt"})
      EXPECT_NE(std::find(files.begin(), files.end(), checkpoint.folder / name), files.end()) << name;
    EXPECT_EQ(spec.warnings[0], checkpoint.weights().string() +
                                    ": there is no SentencePiece model next to it: a text is a list of entries of " +
                                    (checkpoint.folder / "dict.de.txt").string() + ", separated by spaces");
  }
}

TEST(Toolkit, FairseqsTablesMayBeShared) {
  ToolkitFolder checkpoint(kOldFairseq);
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

  const TemporaryFolder elsewhere;
  LoadOptions options = {.config = elsewhere.write("my.json", R"({"model_type": "fairseq", "beam_size": 3})")};
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
  expect_error([&] { checkpoint.load(); },
      {checkpoint.folder.path().string() + ": which of 2 files of subword-nmt's merges cut texts is not known; "
                                           "expected one, or two whose names have \"source\" and \"target\""});
}

// OpenNMT-py's and fairseq's checkpoints that are refused, each with its exact message, and damaged files.

// Returns the message without the folder and its slash.
std::string refusal(const ToolkitFolder& checkpoint, const std::function<void()>& load) {
  std::string text = error_of(load);
  const std::string folder = checkpoint.folder.path().string() + "/";
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  return text;
}
std::string refusal(const ToolkitFolder& checkpoint) {
  return refusal(checkpoint, [&] { checkpoint.load(); });
}

struct Case {
  const char* key;
  nlohmann::json value;
  const char* text;  // after the setting's name
};

TEST(ToolkitRefusals, OpenNmtPysOtherModels) {
  const nlohmann::json some = nlohmann::json::array({"linear_keys"});
  const Case cases[] = {{"model_type", "audio", " is \"audio\", expected \"text\""},
      {"model_task", "lm", " is \"lm\", expected \"seq2seq\": language models are not supported"},
      {"encoder_type", "brnn", " is \"brnn\", expected \"transformer\""},
      {"decoder_type", "cnn", " is \"cnn\", expected \"transformer\""},
      {"self_attn_type", "average", " is \"average\", expected \"scaled-dot\" or \"scaled-dot-flash\""},
      {"max_relative_positions", 20,
          " is 20, expected 0: relative positions (above 0), rotary positions (-1) and ALiBi (-2) are not supported"},
      {"max_relative_positions", -1,
          " is -1, expected 0: relative positions (above 0), rotary positions (-1) and ALiBi (-2) are not supported"},
      {"relative_positions_buckets", 32, " is 32, expected 0: relative attention biases are not supported"},
      {"position_encoding", false, " is false, expected true: a model without positions is not supported"},
      {"position_encoding_type", "x", " is \"x\", expected \"SinusoidalInterleaved\" or \"SinusoidalConcat\""},
      {"pos_ffn_activation_fn", "silu",
          " is \"silu\", expected \"relu\" or \"gelu\": gated feed-forward networks (w_3) are not supported"},
      {"layer_norm", "rms", " is \"rms\", expected \"standard\": RMS norms are not supported"},
      {"parallel_residual", true, " is true, expected false: parallel residuals are not supported"},
      {"multiquery", true, " is true, expected false: multi-query attention is not supported"},
      {"sliding_window", 4096, " is 4096, expected 0: a sliding window is not supported"},
      {"num_experts", 8, " is 8, expected 0: mixtures of experts are not supported"},
      {"n_src_feats", 1, " is 1, expected 0: source features are not supported"},
      {"copy_attn", true, " is true, expected false: copying from the source is not supported"},
      {"generator_function", "sparsemax", " is \"sparsemax\", expected \"softmax\""},
      {"lora_layers", some, " is a JSON array, expected []: merge the LoRA weights first (tools/lora_weights.py)"},
      {"lora_embedding", true, " is true, expected false: merge the LoRA weights first (tools/lora_weights.py)"},
      {"quant_type", "bnb_NF4",
          " is \"bnb_NF4\", expected \"\": weights in OpenNMT-py's quantized layers are not supported"},
      {"heads", 0, " is \"0\", expected an integer from 1 to 256"},
      {"norm_eps", "x", " is \"\"x\"\", expected a number from 1e-12 to 1"}};
  for (const Case& c : cases) {
    ToolkitFolder checkpoint(kOpenNmt);
    checkpoint.saved["opt"][c.key] = c.value;
    EXPECT_EQ(refusal(checkpoint), std::string("model.pt: opt: setting \"") + c.key + "\"" + c.text);
  }
}

TEST(ToolkitRefusals, FairseqsOtherModels) {
  const char* const pruned = " expected none: a model whose layers are chosen when it is loaded is not supported";
  const char* const noise = " expected 0: models that were trained with quantization noise are not supported";
  const char* const experts = " expected 0: mixtures of experts are not supported";
  const std::string layers_to_keep = std::string(" is \"0,2\",") + pruned, noisy = std::string(" is 0.1,") + noise,
                    with_experts = std::string(" is 2,") + experts;
  const Case cases[] = {{"arch", "fconv_iwslt_de_en",
                            " is \"fconv_iwslt_de_en\", expected \"transformer\" or an encoder-decoder whose name "
                            "begins with \"transformer_\""},
      {"arch", "transformer_lm_gpt",
          " is \"transformer_lm_gpt\", expected \"transformer\" or an encoder-decoder whose name begins with "
          "\"transformer_\""},
      {"activation_fn", "tanh", " is \"tanh\", expected \"relu\" or \"gelu\" or \"gelu_accurate\" or \"gelu_fast\""},
      {"adaptive_softmax_cutoff", "50,100", " is \"50,100\", expected none: an adaptive softmax is not supported"},
      {"adaptive_input", true, " is true, expected false: adaptive inputs are not supported"},
      {"char_inputs", true, " is true, expected false: characters as inputs are not supported"},
      {"no_token_positional_embeddings", true, " is true, expected false: a model without positions is not supported"},
      {"no_cross_attention", true,
          " is true, expected false: a decoder that does not attend to the encoder is not supported"},
      {"cross_self_attention", true,
          " is true, expected false: self-attention and cross-attention in one are not supported"},
      {"encoder_layers_to_keep", "0,2", layers_to_keep.c_str()},
      {"decoder_layers_to_keep", "0,2", layers_to_keep.c_str()},
      {"mha_heads_to_keep", 3, " is 3, expected -1: pruned heads are not supported"},
      {"base_layers", 2, with_experts.c_str()}, {"moe_freq", 2, with_experts.c_str()},
      {"quant_noise_pq", 0.1, noisy.c_str()}, {"quant_noise_scalar", 0.1, noisy.c_str()},
      {"lang_tok_replacing_bos_eos", true,
          " is true, expected false: tokens of languages in the place of start and end are not supported"},
      {"encoder_attention_heads", "2", " is \"\"2\"\", expected an integer from 1 to 256"}};
  for (const Case& c : cases) {
    ToolkitFolder checkpoint(kFairseqPost);
    checkpoint.saved["cfg"]["model"][c.key] = c.value;
    EXPECT_EQ(refusal(checkpoint), std::string("model.pt: cfg.model: setting \"") + c.key + "\"" + c.text);
  }
  ToolkitFolder task(kFairseqPost);
  task.saved["cfg"]["task"]["_name"] = "translation_multi_simple_epoch";
  EXPECT_EQ(refusal(task),
      "model.pt: cfg.task: setting \"_name\" is \"translation_multi_simple_epoch\", expected \"translation\": what "
      "other tasks put around texts is not known");
  ToolkitFolder args(kOldFairseq);
  args.saved["args"]["task"] = "semisupervised_translation";
  EXPECT_EQ(refusal(args),
      "model.pt: args: setting \"task\" is \"semisupervised_translation\", expected \"translation\": what other tasks "
      "put around texts is not known");
}

TEST(ToolkitRefusals, TensorsThatDoNotFit) {
  ToolkitFolder features(kOpenNmt);
  features.add("encoder.embeddings.make_embedding.emb_luts.1.weight", {3, 8});
  EXPECT_EQ(refusal(features),
      "model.pt: tensor \"encoder.embeddings.make_embedding.emb_luts.1.weight\" is not known, and may change the "
      "graph");
  ToolkitFolder noise(kFairseqPost);
  noise.add("encoder.quant_noise.weight", {8, 8});
  EXPECT_EQ(refusal(noise), "model.pt: tensor \"encoder.quant_noise.weight\" is not known, and may change the graph");
  ToolkitFolder depth(kOpenNmt);
  depth.saved["opt"]["enc_layers"] = 3;
  EXPECT_EQ(refusal(depth), "model.pt: setting \"num_encoder_layers\" is 3, but the tensors have 2 (encoder.layers)");
  ToolkitFolder norm(kFairseqPost);
  norm.saved["cfg"]["model"]["encoder_normalize_before"] = true;
  EXPECT_EQ(refusal(norm),
      "model.pt: setting \"encoder_final_norm\" is true, but the tensors have no \"encoder.layer_norm.weight\"");
  ToolkitFolder embedding(kFairseqPost);
  embedding.saved["cfg"]["model"]["layernorm_embedding"] = true;
  EXPECT_EQ(refusal(embedding),
      "model.pt: tensor \"encoder.layernorm_embedding.weight\" is missing, and 3 more: "
      "\"encoder.layernorm_embedding.bias\", \"decoder.layernorm_embedding.weight\", "
      "\"decoder.layernorm_embedding.bias\"");
  ToolkitFolder positions(kOpenNmt);
  positions.tensors["encoder.embeddings.make_embedding.pe.pe"].values[9] += 1;
  EXPECT_EQ(refusal(positions),
      "model.pt: tensor \"encoder.embeddings.make_embedding.pe.pe\" differs by up to 1 from the table that model.pt: "
      "setting \"position_encoding\" describes; correct the setting, or use \"stored\" and name this tensor in "
      "tensors.positions");
}

TEST(ToolkitRefusals, CheckpointsWithoutSettings) {
  const std::string opennmt =
      ", which OpenNMT-py saves with the weights; give the checkpoint that it wrote itself, with -save_format pytorch";
  for (const char* key : {"opt", "vocab"}) {
    ToolkitFolder checkpoint(kOpenNmt);
    checkpoint.saved[key] = nullptr;
    EXPECT_EQ(refusal(checkpoint), "model.pt: has no \"" + std::string(key) + "\"" + opennmt);
  }
  ToolkitFolder plain(kOpenNmt);
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : plain.tensors) all.push_back(tensor);
  std::ofstream stream(plain.folder / "model.safetensors", std::ios::binary);
  write_safetensors(stream, all, ElementType::kF32);
  stream.close();
  EXPECT_EQ(refusal(plain, [&] { load_checkpoint(plain.folder / "model.safetensors", {}); }),
      "model.safetensors: has no \"opt\"" + opennmt);
  const std::string fairseq =
      "model.pt: has neither \"args\" nor \"cfg\" with \"model\" and \"task\", which fairseq saves with the weights; "
      "give the checkpoint that fairseq-train wrote";
  for (const char* lacking : {"model", "task"}) {
    ToolkitFolder checkpoint(kFairseqPost);
    checkpoint.saved["cfg"].erase(lacking);
    EXPECT_EQ(refusal(checkpoint), fairseq);
  }
  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.saved = {{"args", "text"}};
  EXPECT_EQ(refusal(checkpoint), fairseq);
  checkpoint.files["config.json"] = R"({"model_type": "marian"})";
  EXPECT_EQ(refusal(checkpoint),
      "config.json: setting \"model_type\" is \"marian\", but this is a fairseq checkpoint: expected \"fairseq\"");
}

TEST(ToolkitRefusals, OpenNmtPysVocabularies) {
  const std::string not_a_list =
      " vocabulary is not a list of tokens, nor torchtext's object of one; save the model with OpenNMT-py 3 "
      "(tools/convertv2_v3.py)";
  ToolkitFolder checkpoint(kOpenNmt);
  for (const nlohmann::json& bad :
      {nlohmann::json(nullptr), nlohmann::json(3), nlohmann::json{{"fields", nlohmann::json::array({1, 2})}},
          nlohmann::json{{"__class__", "torchtext.vocab Vocab"}, {"stoi", {{"a", 1}}}}}) {
    checkpoint.saved["vocab"]["src"] = bad;
    EXPECT_EQ(refusal(checkpoint), "model.pt: the source" + not_a_list) << bad;
  }
  checkpoint.saved["vocab"]["src"] = {"<unk>", "a", 7};
  EXPECT_EQ(refusal(checkpoint), "model.pt: setting \"source_vocabulary\": id 2 is a JSON number, expected a text");
  checkpoint.saved["vocab"]["src"] = {"a", "b"};
  EXPECT_EQ(refusal(checkpoint),
      "model.pt: setting \"source_vocabulary\": has no entry \"<unk>\", which model.pt: setting \"source_unk_token\" "
      "names");
  checkpoint.saved["vocab"]["src"] = {"<unk>", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  EXPECT_EQ(refusal(checkpoint),
      "model.pt: setting \"source_vocabulary\": \"9\" has id 9, expected less than the embedding's 9 rows");
  checkpoint.saved["vocab"]["src"] = {"<unk>", "\xff"};
  EXPECT_EQ(refusal(checkpoint), "model.pt: its settings have a text that is not UTF-8: \"\xff\"");
}

TEST(ToolkitRefusals, FairseqsDictionaries) {
  const auto with = [](const char* dictionary) {
    ToolkitFolder checkpoint(kFairseqPost);
    checkpoint.files["dict.de.txt"] = dictionary;
    return refusal(checkpoint);
  };
  EXPECT_EQ(with(""), "dict.de.txt: the file is empty; download it again");
  EXPECT_EQ(with("a 9\nb\n"), "dict.de.txt: line 2 is \"b\", expected a text, a space and its count");
  EXPECT_EQ(with("a 9\n\nb 1\n"), "dict.de.txt: line 2 is \"\", expected a text, a space and its count");
  EXPECT_EQ(with("a x\n"), "dict.de.txt: line 1 is \"a x\", expected a text, a space and its count");
  EXPECT_EQ(with(" 5\n"), "dict.de.txt: line 1 is \" 5\", expected a text, a space and its count");
  EXPECT_EQ(with("a 9\nb 1\na 1\n"), "dict.de.txt: line 3 has the text \"a\" again, which line 1 has");
  EXPECT_EQ(
      with("a 9\n<pad> 1\n"), "dict.de.txt: line 2 has the text \"<pad>\" again, which every dictionary begins with");
  EXPECT_EQ(with("a 9 #fairseq:overwrite\n"),
      "dict.de.txt: line 1 has the flag #fairseq:overwrite (a text with two ids), which is not supported");
  EXPECT_EQ(with("\xc3 9\n"), "dict.de.txt: line 1 has the text \"\xc3\", which is not UTF-8");
  EXPECT_EQ(with("a 1\nb 1\nc 1\nd 1\ne 1\nf 1\n"),
      "dict.de.txt: has 10 texts with the 4 that every dictionary begins with, but model.pt: tensor "
      "\"encoder.embed_tokens.weight\" has shape [9, 8]");
  EXPECT_EQ(with("a b 5\r\n# 3\n\xe2\x96\x81 2"), "no error") << "texts may have spaces; a last line needs no end";

  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.files.erase("dict.en.txt");
  EXPECT_EQ(refusal(checkpoint),
      "dict.en.txt: is missing; it has the target vocabulary: copy it from the training's data folder");
  const std::string expected =
      ", expected a language, which names the dictionary dict.LANGUAGE.txt; set \"target_language\" in a config.json "
      "next to it";
  checkpoint.saved["cfg"]["task"]["target_lang"] = nullptr;
  EXPECT_EQ(refusal(checkpoint), "model.pt: cfg.task: setting \"target_lang\" is missing" + expected);
  checkpoint.saved["cfg"]["task"]["target_lang"] = "../en";
  EXPECT_EQ(refusal(checkpoint), "model.pt: cfg.task: setting \"target_lang\" is \"../en\"" + expected);
}

// Changes every byte of a dictionary, and cuts it at every length: an error or a model, never a crash.
TEST(ToolkitRefusals, DamagedDictionaries) {
  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.write();
  const std::string good = checkpoint.files.at("dict.de.txt");
  size_t refused = 0;
  const auto load = [&](const std::string& content) {
    checkpoint.folder.write("dict.de.txt", content);
    refused += error_of([&] { load_checkpoint(checkpoint.folder.path(), {}); }) != "no error";
  };
  for (size_t n = 0; n < good.size(); ++n) load(good.substr(0, n));
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char byte : {'\n', ' ', '\0', '\xff', 'a'}) {
      std::string bad = good;
      bad[i] = byte;
      load(bad);
    }
  }
  EXPECT_GT(refused, good.size());
}

// Changes bytes of the settings, and cuts the file within them.
TEST(ToolkitRefusals, DamagedPickles) {
  for (const ToolkitShape& shape : {kOpenNmt, kOldFairseq}) {
    ToolkitFolder checkpoint(shape);
    checkpoint.write();
    const std::string good = checkpoint.pickle();
    const size_t settings = good.find("Namespace") - 100;
    size_t refused = 0;
    const auto load = [&](const std::string& pickle) {
      checkpoint.write(pickle);
      refused += error_of([&] { load_checkpoint(checkpoint.folder.path(), {}); }) != "no error";
    };
    for (size_t n = settings; n < good.size(); n += 29) load(good.substr(0, n));
    EXPECT_GE(refused, (good.size() - settings) / 29);
    for (size_t i = settings; i < good.size(); i += 3) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x41);
      load(bad);
    }
    EXPECT_GT(refused, (good.size() - settings) / 6);
  }
}

std::string key(const std::string& text) {
  const std::string pickle = PickleWriter().text(text).finish();
  return pickle.substr(2, pickle.size() - 3);  // without the protocol and the end
}

std::string pickle_refusal(const std::string& more) {
  ToolkitFolder checkpoint(kFairseqPost);
  std::string pickle = checkpoint.pickle();
  pickle.insert(pickle.size() - 2, more);  // before the end of the outermost dictionary
  return refusal(checkpoint, [&] {
    checkpoint.write(pickle);
    load_checkpoint(checkpoint.folder.path(), {});
  });
}

TEST(ToolkitRefusals, HostileSettings) {
  const std::string omegaconf = pickle_refusal(key("x") + "comegaconf.dictconfig\nDictConfig\n)\x81");
  EXPECT_TRUE(
      omegaconf.starts_with("model.pt: the pickle data.pkl: asks for \"omegaconf.dictconfig.DictConfig\" (at byte "));
  EXPECT_TRUE(omegaconf.ends_with(
      "), one of OmegaConf's objects; nothing in it is executed. Where fairseq is, save it with plain settings: python "
      "-c \"import torch, omegaconf; s = torch.load('checkpoint.pt', weights_only=False); s['cfg'] = "
      "omegaconf.OmegaConf.to_container(s['cfg'], resolve=True, enum_to_str=True); torch.save(s, 'plain.pt')\""))
      << omegaconf;
  const std::string remedy =
      "; nothing in it is executed. Load it where it was made and save only the weights: "
      "torch.save(model.state_dict(), ...), or convert it to safetensors";
  const auto without_place = [](std::string message) {
    const size_t at = message.find(" (at byte");
    return at == std::string::npos ? message : message.erase(at, message.find(')', at) + 1 - at);
  };
  const std::string start = "model.pt: the pickle data.pkl: ";
  EXPECT_EQ(without_place(pickle_refusal(key("x") + "cargparse\nArgumentParser\n)\x81")),
      start + "asks for \"argparse.ArgumentParser\", which is not part of a state dict" + remedy);
  EXPECT_EQ(without_place(pickle_refusal(key("x") + "cargparse\nNamespace\n)R")),
      start + "calls \"argparse Namespace\" with arguments that it does not take" + remedy);
  EXPECT_EQ(without_place(pickle_refusal(key("x") + "cargparse\nNamespace\nN\x85\x81")),
      start + "makes an object that is not a dictionary" + remedy);
  EXPECT_EQ(without_place(pickle_refusal(key("x") + "cargparse\nNamespace\n)\x81Nb")),
      start + "sets attributes that are not a dictionary" + remedy);
  EXPECT_EQ(without_place(pickle_refusal(key("x") + "ccollections\nCounter\nNN\x86R")),
      start + "calls \"collections Counter\" with arguments that it does not take" + remedy);
  // An object whose attributes are its own attributes twice, thirty times over.
  std::string doubling = key("x") + "cargparse\nNamespace\n)\x81q\x01}" + key("a") + "Nsb";
  for (int i = 0; i < 30; ++i)
    doubling +=
        "h\x01"
        "b";
  EXPECT_EQ(without_place(pickle_refusal(doubling)), start + "sets more than 2000000 attributes" + remedy);
}

// Settings that refer to one list in many places would be long as text.
TEST(ToolkitRefusals, SettingsInManyPlaces) {
  std::string lists = key("args") + "(]q\x01";  // an empty list, then one of 20 times the last list, and so on
  for (char level = 1; level < 11; ++level) {
    lists += "](";
    for (int i = 0; i < 20; ++i) lists += std::string("h") + level;
    lists += std::string("eq") + static_cast<char>(level + 1);
  }
  const std::string message = pickle_refusal(lists + "t");
  EXPECT_TRUE(message.starts_with("model.pt: its settings need more than ")) << message;
  EXPECT_TRUE(message.ends_with(" bytes of text, much more than the pickle has")) << message;
}

TEST(ToolkitRefusals, AFolderOfSeveralCheckpoints) {
  ToolkitFolder checkpoint(kFairseqPost);
  checkpoint.write();
  std::filesystem::copy_file(checkpoint.weights(), checkpoint.folder / "checkpoint_last.pt");
  EXPECT_EQ(refusal(checkpoint),
      checkpoint.folder.path().string() +
          ": holds several weight files (\"checkpoint_last.pt\", \"model.pt\"); give the path of the one to convert");
}

TEST(ToolkitRefusals, ThereIsNoConfigToPrint) {
  ToolkitFolder checkpoint(kOpenNmt);
  checkpoint.write();
  EXPECT_EQ(refusal(checkpoint, [&] { config_template(checkpoint.weights()); }),
      "model.pt: this is an OpenNMT-py checkpoint; goldcrest-convert converts it to a .gcst file");
}
}}  // namespace goldcrest::converter
