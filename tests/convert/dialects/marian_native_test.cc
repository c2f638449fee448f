// SPDX-License-Identifier: Apache-2.0
// Compares Marian's own models with their formula, and the models that each container gives.
#include "support/marian_native.h"
#include "convert/support/native_folder.h"
#include "dialects/shortlist/shortlist_file.h"
#include "file/build.h"
#include "quantize/quantize.h"
#include "reference/reference_search.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter { namespace {
using namespace test;

const std::vector<int32_t> kSource = {3, 7, 2, 11, 5, 0};

void expect_near(const NativeFormula::Row& formula, std::span<const float> logits) {
  for (size_t id = 0; id < formula.size(); ++id) EXPECT_NEAR(logits[id], formula[id], 2e-5) << id;
}

TEST(MarianNative, TheReferenceIsTheFormula) {
  for (const bool is_recurrent : {true, false}) {
    NativeFolder checkpoint;
    checkpoint.shape.is_recurrent = is_recurrent;
    checkpoint.tensors = native_tensors(checkpoint.shape, 3);
    checkpoint.settings = native_settings(checkpoint.shape);
    const ModelSpec spec = checkpoint.load();
    EXPECT_NO_THROW(validate_spec(spec));
    const Reference reference(spec);
    const std::vector<int32_t> target = {4, 9, 2, 2, 6, 10, 3};
    const Logits logits = reference.teacher_forced_logits(reference.encode(kSource), target);
    const NativeFormula formula(checkpoint.tensors, checkpoint.shape);
    NativeFormula::State state = formula.start(kSource);
    for (size_t p = 0; p < target.size(); ++p) {
      expect_near(formula.step(p == 0 ? -1 : target[p - 1], state), logits.row(p));
      EXPECT_EQ(logits.row(p)[12], -65536.0f);  // the start id
    }
  }
}

TEST(MarianNative, GreedyIdsAreTheFormulas) {
  NativeFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  const NativeFormula formula(checkpoint.tensors, checkpoint.shape);
  std::vector<int32_t> expected;
  constexpr size_t kTokens = 12;
  NativeFormula::State state = formula.start(kSource);
  while (expected.size() < kTokens && (expected.empty() || expected.back() != 0)) {
    NativeFormula::Row logits = formula.step(expected.empty() ? -1 : expected.back(), state);
    logits[1] = -1e9;  // <unk> is never chosen
    expected.push_back(static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }
  SearchOptions options = default_search(spec);
  options.beam_size = 1;
  options.max_target_tokens = kTokens + 1;
  std::vector<int32_t> found = search(Reference(spec), kSource, options)[0].tokens;
  found.resize(expected.size());
  EXPECT_EQ(found, expected);
}

TEST(MarianNative, DeflatedAndFloatBinaryGiveTheSameModel) {
  NativeFolder checkpoint;
  const ModelSpec stored = checkpoint.load();
  const Matrix &table = *stored.decoder.embedding, &gate = *stored.decoder.layers[1].recurrent->forget.weight;
  const std::vector<float> of_table = table.values.get(), of_gate = gate.values.get();  // read before the file changes
  checkpoint.folder.write("model.npz", npz_bytes(checkpoint.tensors, checkpoint.settings, true));
  const ModelSpec deflated = load_checkpoint(checkpoint.folder / "model.npz", {});
  checkpoint.folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\n");
  checkpoint.folder.write(
      "model.bin", binary_bytes(binary_items(checkpoint.tensors, checkpoint.settings, BinaryKind::kFloat)));
  const ModelSpec binary = load_checkpoint(checkpoint.folder / "model.bin", {});
  for (const ModelSpec* other : {&deflated, &binary}) {
    EXPECT_EQ(other->decoder.embedding->values.get(), of_table);
    EXPECT_EQ(other->decoder.layers[1].recurrent->forget.weight->values.get(), of_gate);
    EXPECT_EQ(other->encoder.layers[0].feed_forward.in.bias, stored.encoder.layers[0].feed_forward.in.bias);
    EXPECT_TRUE(other->decoder.embedding->stored_scale.empty());
    EXPECT_EQ(other->dialect, "marian_native");
  }
}

TEST(MarianNative, AnInt8ModelKeepsItsIntegers) {
  NativeFolder checkpoint;
  checkpoint.folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\n");
  for (const BinaryKind kind : {BinaryKind::kInt8, BinaryKind::kInt8WithAlphas}) {
    checkpoint.folder.write("model.bin", binary_bytes(binary_items(checkpoint.tensors, checkpoint.settings, kind)));
    const ModelSpec spec = load_checkpoint(checkpoint.folder.path(), {});
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings[0];
    const NamedTensor& wq = checkpoint.tensor("encoder_l1_self_Wq");
    const float multiplier = multiplier_of(wq), scale = 1 / multiplier;
    const Matrix& matrix = *spec.encoder.layers[0].self_attention->query.weight;
    EXPECT_EQ(matrix.stored_scale, std::vector<float>(8, scale));
    QuantizedMatrix stored(8, 8);
    EXPECT_EQ(quantize_rows(matrix, Placement::in_order(8), Placement::in_order(8), 0, stored),
        std::numeric_limits<double>::infinity());
    for (size_t r = 0; r < 8; ++r) {
      EXPECT_EQ(stored.scale[r], scale);
      for (size_t c = 0; c < 8; ++c)
        EXPECT_EQ(stored.weights[r * 16 + c], std::lrint(wq.values[c * 8 + r] * multiplier)) << r << " " << c;
    }
    // The scale of the table also holds for the start id's row of zeros.
    EXPECT_EQ(spec.decoder.embedding->stored_scale.size(), 13u);
    for (const TensorRecord& tensor : build_payload(spec, {}).tensors)
      EXPECT_EQ(tensor.sqnr_db.value_or(INFINITY), INFINITY) << tensor.name;
  }
}

TEST(MarianNative, ItsIdsAndSearch) {
  NativeFolder checkpoint;
  checkpoint.folder.write("README.md", "---\nlicense: mpl-2.0\n---\n");
  const ModelSpec spec = checkpoint.load();
  const GenerationSpec& generation = spec.generation;
  EXPECT_EQ(generation.decoder_start_id, 12u);
  EXPECT_EQ(generation.end_id, 0u);
  EXPECT_EQ(generation.unknown_id, 1u);
  EXPECT_EQ(generation.suppressed_ids, (std::vector<uint32_t>{1, 12}));
  EXPECT_EQ(generation.source_suffix, (std::vector<uint32_t>{0}));
  EXPECT_EQ(generation.beam_size, 4u);
  EXPECT_EQ(generation.length_penalty, 0.6f);
  EXPECT_EQ(generation.word_penalty, 0.1f);
  EXPECT_EQ(generation.max_target_tokens, 512u);
  EXPECT_EQ(spec.license, "mpl-2.0");
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 13u);
  EXPECT_EQ(spec.target_tokenizer->pieces[12].type, PieceType::kControl);
  EXPECT_EQ(spec.decoder.embedding->rows, 13u);
  EXPECT_EQ(spec.projection.bias[12], -65536.0f);
  EXPECT_EQ(spec.added_target_ids, 1u);
}

TEST(MarianNative, NamesWhatIsWrongWithATensor) {
  NativeFolder checkpoint;
  checkpoint.remove("decoder_l2_rnn_Wf");
  const std::string file = checkpoint.file("model.npz");
  EXPECT_EQ(message_of(checkpoint),
      file + ": tensor \"decoder_l2_rnn_Wf\" is missing; the nearest names that it has: \"decoder_l1_rnn_Wf\"");
  checkpoint.add("decoder_l2_rnn_Wf", {8, 9}, 0);
  EXPECT_EQ(message_of(checkpoint), file + ": tensor \"decoder_l2_rnn_Wf\" has shape [8, 9], expected [8, 8]");
  checkpoint.tensor("decoder_l2_rnn_Wf") = {"decoder_l2_rnn_Wf", {8, 8}, std::vector<float>(64, INFINITY)};
  EXPECT_EQ(message_of(checkpoint), file +
                                        ": tensor \"decoder_l2_rnn_Wf\" has the value inf at [0, 0], expected finite "
                                        "numbers; the checkpoint is damaged or its training diverged");
}

TEST(MarianNative, WarnsOfWhatItDidNotUse) {
  NativeFolder checkpoint;
  checkpoint.add("decoder_l3_rnn_W", {8, 8}, 1);
  EXPECT_EQ(checkpoint.load().warnings, (std::vector<std::string>{"1 tensors were not used: \"decoder_l3_rnn_W\""}));
}

// The graphs that special:model.yml may describe, and the messages about others.

struct BadSetting {
  const char *key, *value, *message;  // after "FILE: special:model.yml: setting "
};

TEST(MarianNativeGraph, RefusesOtherGraphsByName) {
  const BadSetting cases[] = {
      {"type", "s2s", "\"type\" is \"s2s\", expected \"transformer\": other graphs are not read"},
      {"type", "~", "\"type\" is missing"},
      {"transformer-decoder-autoreg", "average-attention",
          "\"transformer-decoder-autoreg\" is \"average-attention\", expected \"self-attention\" or \"rnn\": other "
          "graphs are not read"},
      {"transformer-ffn-depth", "3", "\"transformer-ffn-depth\" is 3, expected 2: other graphs are not read"},
      {"transformer-decoder-ffn-depth", "1",
          "\"transformer-decoder-ffn-depth\" is 1, expected 0 or 2: other graphs are not read"},
      {"transformer-no-projection", "true",
          "\"transformer-no-projection\" is true, expected false: other graphs are not read"},
      {"transformer-rnn-projection", "true",
          "\"transformer-rnn-projection\" is true, expected false: other graphs are not read"},
      {"transformer-pool", "true", "\"transformer-pool\" is true, expected false: other graphs are not read"},
      {"transformer-tied-layers", "[1, 1]",
          "\"transformer-tied-layers\" is [1,1], expected []: other graphs are not read"},
      {"input-types", "[class]",
          "\"input-types\" is [\"class\"], expected [] or [\"sequence\",\"sequence\"]: other graphs are not read"},
      {"right-left", "true", "\"right-left\" is true, expected false: other graphs are not read"},
      {"ulr", "true", "\"ulr\" is true, expected false: other graphs are not read"},
      {"lemma-dim-emb", "64", "\"lemma-dim-emb\" is 64, expected 0: other graphs are not read"},
      {"factors-combine", "concat", "\"factors-combine\" is \"concat\", expected \"sum\": other graphs are not read"},
      {"transformer-window", "5", "\"transformer-window\" is not known, and may change the graph"},
      {"transformer-dim-fnn", "5",
          "\"transformer-dim-fnn\" is not known, and may change the graph; did you mean \"transformer-dim-ffn\"?"},
      {"dim-vocabs", "[1, 2, 3]", "\"dim-vocabs\" is [1,2,3], expected two sizes: of one source and one target"},
      {"dim-emb", "9", "\"dim-emb\" is 9, expected an even multiple of transformer-heads 2"},
      {"dim-emb", "70000", "\"dim-emb\" is \"70000\", expected an integer from 4 to 65536"},
      {"enc-depth", "0", "\"enc-depth\" is \"0\", expected an integer from 1 to 256"},
      {"transformer-heads", "~", "\"transformer-heads\" is missing"},
      {"dec-cell", "gru", "\"dec-cell\" is \"gru\", expected \"ssru\" with transformer-decoder-autoreg \"rnn\""},
      {"layer-normalization", "true",
          "\"layer-normalization\" is true, expected false with transformer-decoder-autoreg \"rnn\""},
      {"transformer-ffn-activation", "gelu",
          "\"transformer-ffn-activation\" is \"gelu\", expected \"relu\" or \"swish\""},
      {"transformer-postprocess", "dhn",
          "\"transformer-postprocess\" is \"dhn\" and transformer-preprocess \"\", expected \"dan\" and \"\", or "
          "\"da\" and \"n\""},
      {"transformer-preprocess", "n",
          "\"transformer-postprocess\" is \"dan\" and transformer-preprocess \"n\", expected \"dan\" and \"\", or "
          "\"da\" and \"n\""},
      {"transformer-postprocess-top", "a",
          "\"transformer-postprocess-top\" is \"a\", expected \"n\", \"d\" or \"\": other graphs are not read"},
      {"transformer-postprocess-emb", "hn",
          "\"transformer-postprocess-emb\" is \"hn\", expected \"n\", \"d\" or \"\": other graphs are not read"},
  };
  for (const BadSetting& bad : cases) {
    NativeFolder checkpoint;
    checkpoint.set(bad.key, bad.value);
    EXPECT_EQ(message_of(checkpoint), checkpoint.file("model.npz") + ": special:model.yml: setting " + bad.message);
  }
}

TEST(MarianNativeGraph, NeedsItsSettings) {
  NativeFolder checkpoint;
  checkpoint.settings = "";
  checkpoint.tensors.push_back({"special:other", {1}, {0}});
  EXPECT_EQ(message_of(checkpoint).find(checkpoint.file("model.npz")), 0u);
  checkpoint.settings = "a: [";
  EXPECT_EQ(
      message_of(checkpoint), checkpoint.file("model.npz") +
                                  ": special:model.yml: line 1, column 1: is not YAML: end of sequence flow not found");
}

TEST(MarianNativeGraph, ReadsEveryForm) {
  NativeFolder checkpoint;
  const ModelSpec post = checkpoint.load();
  EXPECT_EQ(post.encoder.layers.size(), 2u);
  EXPECT_EQ(post.encoder.n_heads, 2u);
  EXPECT_EQ(post.encoder.d_ff, 16u);
  EXPECT_EQ(post.encoder.activation, Activation::kRelu);
  EXPECT_FALSE(post.encoder.pre_norm);
  EXPECT_TRUE(post.decoder.layers[1].recurrent.has_value());
  EXPECT_FALSE(post.decoder.layers[1].self_attention.has_value());
  EXPECT_EQ(post.encoder.layers[0].feed_forward.norm.epsilon, 1e-6f);

  checkpoint.shape.is_recurrent = false;
  checkpoint.tensors = native_tensors(checkpoint.shape, 2);
  checkpoint.settings = native_settings(checkpoint.shape);
  checkpoint.set("transformer-ffn-activation", "swish");
  checkpoint.set("transformer-preprocess", "dn");
  checkpoint.set("transformer-postprocess", "da");
  checkpoint.set("transformer-postprocess-emb", "nd");
  checkpoint.set("transformer-postprocess-top", "n");
  checkpoint.set("input-types", "[sequence, sequence]");
  for (NamedTensor& tensor : checkpoint.tensors)
    if (tensor.name.find("_ln_") != std::string::npos) tensor.name += "_pre";
  for (const std::string stack : {"encoder", "decoder"})
    for (const std::string& name :
        {stack + "_emb_ln_scale_pre", stack + "_emb_ln_bias_pre", stack + "_top_ln_scale", stack + "_top_ln_bias"})
      checkpoint.add(name, {1, 8}, 0.25f);
  const ModelSpec pre = checkpoint.load();
  EXPECT_TRUE(pre.decoder.pre_norm);
  EXPECT_EQ(pre.decoder.activation, Activation::kSilu);
  EXPECT_TRUE(pre.decoder.layers[0].self_attention.has_value());
  EXPECT_EQ(pre.encoder.embedding_norm->gamma[0], 0.25f);
  EXPECT_EQ(pre.decoder.final_norm->beta[7], 0.25f);
  EXPECT_TRUE(pre.warnings.empty()) << pre.warnings[0];

  checkpoint.set("transformer-decoder-autoreg", "rnn");
  checkpoint.set("dec-cell", "ssru");
  EXPECT_TRUE(has(message_of(checkpoint), "tensor \"decoder_l1_rnn_W\" is missing"));
  EXPECT_TRUE(has(message_of(checkpoint), "\"decoder_l1_rnn_ln_scale_pre\""));
}

TEST(MarianNativeGraph, ReadsEveryTying) {
  NativeFolder all;
  const ModelSpec shared = all.load();
  EXPECT_EQ(shared.encoder.embedding, shared.decoder.embedding);
  EXPECT_EQ(shared.projection.weight, shared.decoder.embedding);

  NativeFolder source;  // one table for source and target; a projection of its own
  source.set("tied-embeddings-all", "false");
  source.set("tied-embeddings-src", "true");
  source.add("decoder_ff_logit_out_Wt", {12, 8}, 0.5f);
  const ModelSpec tied_source = source.load();
  EXPECT_EQ(tied_source.encoder.embedding, tied_source.decoder.embedding);
  EXPECT_EQ(tied_source.projection.weight->values[0], 0.5f);
  EXPECT_EQ(tied_source.projection.weight->rows, 13u);

  NativeFolder target;  // one table for the target and the projection
  target.set("tied-embeddings-all", "false");
  target.set("tied-embeddings", "true");
  target.tensor("Wemb").name = "decoder_Wemb";
  target.add("encoder_Wemb", {12, 8}, 0.25f);
  target.set("output-omit-bias", "true");
  target.remove("decoder_ff_logit_out_b");
  const ModelSpec tied_target = target.load();
  EXPECT_EQ(tied_target.encoder.embedding->rows, 12u);
  EXPECT_EQ(tied_target.decoder.embedding->rows, 13u);
  EXPECT_EQ(tied_target.projection.weight, tied_target.decoder.embedding);
  EXPECT_EQ(tied_target.projection.bias, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -65536}));
  EXPECT_EQ(tied_target.source_tokenizer->vocab_size, 12u);

  NativeFolder none;  // an old model, whose projection is not transposed
  none.set("tied-embeddings-all", "false");
  none.tensor("Wemb").name = "decoder_Wemb";
  none.add("encoder_Wemb", {12, 8}, 0.25f);
  none.add("decoder_ff_logit_out_W", {8, 12}, 0.125f);
  none.tensor("decoder_ff_logit_out_W").values[1] = 7;
  EXPECT_EQ(none.load().projection.weight->row(1)[0], 7);
}

TEST(MarianNativeGraph, LearnedPositionsComeWithUnscaledEmbeddings) {
  NativeFolder checkpoint;
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, std::sqrt(8.0f));
  EXPECT_EQ(checkpoint.load().encoder.positions.rows, 512u);
  checkpoint.add("Wpos", {20, 8}, 0.5f);
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.decoder.embedding_scale, 1.0f);
  EXPECT_EQ(spec.decoder.positions.rows, 20u);
  EXPECT_EQ(spec.decoder.positions.values[0], 0.5f);
  EXPECT_EQ(spec.generation.max_target_tokens, 20u);
}

// The files in the folder of a Marian model: decoder settings, vocabularies, and the messages if they are missing.

using test::NativeFolder;

const std::filesystem::path kPieces = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models/enfr";
constexpr uint32_t kIds = 5999;  // source.spm's and target.spm's

// A model with a row for each piece of the example's SentencePiece models.
struct PieceFolder : NativeFolder {
  PieceFolder() {
    shape = {kIds, 4, 8, 2, 1, 1, true};
    tensors = native_tensors(shape, 1);
    settings = native_settings(shape);
    decoder = "";
    std::filesystem::remove(folder / "vocab.yml");
  }
  void copy(const char* from, const char* to) const { std::filesystem::copy_file(kPieces / from, folder / to); }
};

TEST(MarianNativeText, OneSentencePieceModelIsForBoth) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "vocab.enfr.spm");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(
      spec.warnings, (std::vector<std::string>{
                         checkpoint.file("model.npz") +
                         ": no YAML next to it has \"models\" that name it; it searches greedily, with normalize 1"}));
  EXPECT_EQ(spec.generation.beam_size, 1u);
  EXPECT_EQ(spec.generation.length_penalty, 1.0f);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, kIds + 1);
  EXPECT_EQ(spec.target_tokenizer->pieces[4].text, spec.source_tokenizer->pieces[4].text);
  EXPECT_EQ(spec.source_tokenizer->pieces[kIds].text, "");
  EXPECT_EQ(spec.source_tokenizer->unknown_id, 1u);
}

TEST(MarianNativeText, TwoSentencePieceModelsByTheirNames) {
  PieceFolder checkpoint;
  checkpoint.copy("target.spm", "trgvocab.enfr.spm");
  checkpoint.copy("source.spm", "srcvocab.enfr.spm");
  EXPECT_EQ(checkpoint.load().target_tokenizer->vocab_size, kIds + 1);
  checkpoint.folder.write("trgvocab.enfr.spm", "");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("trgvocab.enfr.spm") + ": the file is empty; download it again");
  checkpoint.folder.write("srcvocab.enfr.spm", "");  // the converter reads it first
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("srcvocab.enfr.spm") + ": the file is empty; download it again");
  std::filesystem::rename(checkpoint.folder / "trgvocab.enfr.spm", checkpoint.folder / "other.spm");
  const std::string expected =
      ": its vocabularies are not known: expected the YAML that marian-decoder is started with next to the model (or "
      "with --config), with \"models\" and \"vocabs\", or one .spm file, or srcvocab.spm and trgvocab.spm; found ";
  EXPECT_EQ(message_of(checkpoint), checkpoint.folder.path().string() + expected + "2 .spm files");
  std::filesystem::remove(checkpoint.folder / "other.spm");
  std::filesystem::remove(checkpoint.folder / "srcvocab.enfr.spm");
  EXPECT_EQ(message_of(checkpoint), checkpoint.folder.path().string() + expected + "no .spm file");
}

TEST(MarianNativeText, PiecesAndRowsMustFit) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "vocab.spm");
  checkpoint.tensor("Wemb") = {"Wemb", {6001, 4}, std::vector<float>(6001 * 4, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 6001}, std::vector<float>(6001)};
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6002u);
  EXPECT_EQ(spec.warnings[1], checkpoint.file("vocab.spm") + ": 2 of 6001 ids have no piece");
  checkpoint.tensor("Wemb") = {"Wemb", {12, 4}, std::vector<float>(48, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 12}, std::vector<float>(12)};
  EXPECT_EQ(message_of(checkpoint),
      checkpoint.file("vocab.spm") + ": has 5999 pieces, but the source's embedding has 12 rows");
}

// OPUS-MT's packages: a YAML vocabulary, and the SentencePiece models that cut texts into its pieces.
TEST(MarianNativeText, AYamlVocabularyWithSentencePieceModels) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "source.spm");
  checkpoint.copy("target.spm", "target.spm");
  checkpoint.copy("vocab.json", "opus.vocab.yml");  // JSON is also YAML
  checkpoint.tensor("Wemb") = {"Wemb", {6000, 4}, std::vector<float>(24000, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 6000}, std::vector<float>(6000)};
  checkpoint.decoder =
      "relative-paths: true\nmodels: [/elsewhere/model.npz]\nvocabs: [/elsewhere/opus.vocab.yml, opus.vocab.yml]\n"
      "beam-size: 20\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kUnigram);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6001u);
  EXPECT_EQ(spec.generation.beam_size, 16u);
  EXPECT_EQ(spec.warnings,
      (std::vector<std::string>{checkpoint.file("decoder.yml") + ": setting \"beam-size\" is 20; 16 are used"}));
  EXPECT_EQ(spec.tokenizer_files, (std::vector<std::filesystem::path>{checkpoint.file("opus.vocab.yml"),
                                      checkpoint.file("source.spm"), checkpoint.file("target.spm")}));
}

// OPUS-MT's downloads: a vocabulary of subword-nmt's pieces, source.bpe and target.bpe.
TEST(MarianNativeText, MergesNextToAListOfPieces) {
  NativeFolder checkpoint;
  checkpoint.folder.write("vocab.yml",
      "</s>: 0\n<unk>: 1\na@@: 2\nb@@: 3\nab: 4\nab@@: 5\nb: 6\na: 7\nbab: 8\nc: 9\nc@@: 10\n"
      "d: 11\n");
  const auto pieces_of = [](const TokenizerSpec& tokenizer) {
    std::string texts;
    for (const auto& merge : tokenizer.merges) texts += merge.left + "+" + merge.right + " ";
    return texts;
  };
  // One side's words stay words, with a warning, as long as there are no merges.
  EXPECT_EQ(checkpoint.load().source_tokenizer->kind, TokenizerKind::kWord);
  const char *shorter = "#version: 0.2\na b</w>\na b\n", *longer = "#version: 0.2\na b</w>\na b\nb ab</w>\n";
  checkpoint.folder.write("source.bpe", shorter);
  checkpoint.folder.write("target.bpe", longer);
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_EQ(spec.target_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_NE(pieces_of(*spec.source_tokenizer), pieces_of(*spec.target_tokenizer));
  EXPECT_EQ(spec.tokenizer_files, (std::vector<std::filesystem::path>{checkpoint.file("vocab.yml"),
                                      checkpoint.file("source.bpe"), checkpoint.file("target.bpe")}));
  EXPECT_EQ(spec.warnings, std::vector<std::string>{});
  // One file is for both; a truecaser is named; a third file cannot be told apart; another model's is
  // warned of.
  std::filesystem::remove(checkpoint.folder / "target.bpe");
  checkpoint.folder.write("source.tcmodel", "the (1/1)\n");
  const ModelSpec both = checkpoint.load();
  EXPECT_EQ(pieces_of(*both.source_tokenizer), pieces_of(*both.target_tokenizer));
  ASSERT_EQ(both.warnings.size(), 1u);
  EXPECT_TRUE(has(both.warnings[0], checkpoint.file("source.tcmodel") + ": is not read: Moses's truecaser"));
  checkpoint.folder.write("other.bpe", shorter);
  EXPECT_TRUE(has(message_of(checkpoint), "which of 2 files of subword-nmt's merges cut texts is not known"));
  std::filesystem::remove(checkpoint.folder / "other.bpe");
  checkpoint.folder.write("source.bpe", "#version: 0.2\nx y\n");
  EXPECT_TRUE(has(checkpoint.load().warnings[0], "do they belong to different models?"));
}

TEST(MarianNativeText, AFileThatIsNotReadIsNamed) {
  NativeFolder checkpoint;
  EXPECT_EQ(checkpoint.load().warnings, std::vector<std::string>{});
  for (const char* name : {"vocab.spm", "sentencepiece.bpe.model", "spiece.model"}) {
    checkpoint.folder.write(name, "");
    const std::vector<std::string> warnings = checkpoint.load().warnings;
    ASSERT_EQ(warnings.size(), 1u) << name;
    EXPECT_TRUE(has(warnings[0], checkpoint.file(name) + ": is not read: if it cuts the model's texts"));
    std::filesystem::remove(checkpoint.folder / name);
  }
}

TEST(MarianNativeText, SentencePieceModelsOfAnotherVocabulary) {
  NativeFolder checkpoint;
  for (const char* name : {"source.spm", "target.spm"})
    std::filesystem::copy_file(kPieces / name, checkpoint.folder / name);
  EXPECT_EQ(message_of(checkpoint),
      checkpoint.file("vocab.yml") +
          ": 10 of its 10 entries are not pieces of source.spm or target.spm: they belong to different models");
  std::filesystem::remove(checkpoint.folder / "source.spm");
  EXPECT_EQ(message_of(checkpoint),
      checkpoint.file("vocab.yml") +
          ": 10 of its 10 entries are not pieces of target.spm: they belong to different models");
}

TEST(MarianNativeText, IdsWithoutATextAreCounted) {
  NativeFolder checkpoint;
  checkpoint.folder.write("vocab.yml", "</s>: 0\n<unk>: 1\nword5: 5\nword6: 6\nword7: 7\nword8: 8\nword9: 9\n");
  EXPECT_EQ(checkpoint.load().warnings,
      std::vector<std::string>{checkpoint.file("vocab.yml") + ": 5 of 12 ids have no text"});
  checkpoint.folder.write("vocab.yml", "</s>: 0\n<unk>: 1\n");
  EXPECT_EQ(
      message_of(checkpoint), checkpoint.file("vocab.yml") + ": 10 of 12 ids have no text; it is another model's");
}

TEST(MarianNativeText, TheHashIsOfTheVocabulariesToo) {
  NativeFolder checkpoint;
  const std::string before = checkpoint.load().checkpoint_sha256;
  std::string vocabulary = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 12; ++id) vocabulary += format_text("other{0}: {0}\n", id);
  checkpoint.folder.write("vocab.yml", vocabulary);
  EXPECT_NE(checkpoint.load().checkpoint_sha256, before);
}

TEST(MarianNativeText, NematusNamesOfTheSpecialIds) {
  NativeFolder checkpoint;
  std::string vocabulary = "eos: 0\nUNK: 1\n";
  for (int id = 2; id < 12; ++id) vocabulary += format_text("word{0}: {0}\n", id);
  checkpoint.folder.write("vocab.yml", vocabulary);
  EXPECT_EQ(checkpoint.load().generation.end_id, 0u);
  checkpoint.folder.write("vocab.yml", "a: 0\nb: 1\n<unk>: 2\n");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("vocab.yml") + ": has no entry \"</s>\", the end token");
  checkpoint.folder.write("vocab.yml", "</s>: 0\nb: 1\n");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("vocab.yml") + ": has no entry \"<unk>\", the unknown token");
}

TEST(MarianNativeText, SettingsHaveMariansDefaults) {
  NativeFolder checkpoint;
  checkpoint.decoder = "models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.beam_size, 12u);
  EXPECT_EQ(spec.generation.length_penalty, 0.0f);
  EXPECT_EQ(spec.generation.word_penalty, 0.0f);
  EXPECT_EQ(spec.generation.rules, RulesSpec{});
}

TEST(MarianNativeText, SaysWhatIsWrongWithSettings) {
  struct Case {
    const char *decoder, *message;  // after decoder.yml's path
  };
  const Case cases[] = {{"models: [model.npz]\nvocabs: [vocab.yml]\n",
                            ": setting \"vocabs\" has 1 files, expected two: of one source and one target"},
      {"models: [model.npz]\nvocabs: 5\n", ": setting \"vocabs\" is not a list of file names"},
      {"models: [model.npz, b.npz]\nvocabs: [vocab.yml, vocab.yml]\n",
          ": setting \"models\" has 2 files, expected one: ensembles are not supported"},
      {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: 0\n",
          ": setting \"beam-size\" is \"0\", expected an integer from 1 to 1000"},
      {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nnormalize: 9\n",
          ": setting \"normalize\" is \"9\", expected a number from -2 to 4"},
      {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nmax-length-factor: 0\n",
          ": setting \"max-length-factor\" is \"0\", expected a number from 0.0009765625 to 1024"},
      {"models: [model.npz]\nmodels: [x]\n", ": line 2 has the key \"models\" again"}};
  for (const Case& bad : cases) {
    NativeFolder checkpoint;
    checkpoint.decoder = bad.decoder;
    EXPECT_EQ(message_of(checkpoint), checkpoint.file("decoder.yml") + bad.message);
  }
  NativeFolder factored;
  factored.decoder = "models: [model.npz]\nvocabs: [a.fsv, a.fsv]\n";
  EXPECT_EQ(message_of(factored), factored.file("a.fsv") + ": is a factored vocabulary, which is not supported");
  NativeFolder both;
  both.folder.write("other.yml", both.decoder);
  EXPECT_EQ(message_of(both),
      both.folder.path().string() +
          ": \"decoder.yml\" and \"other.yml\" both name \"model.npz\"; give one of them with --config");
  both.folder.write("model.npz.decoder.yml", "models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nallow-unk: true\n");
  EXPECT_EQ(both.load().generation.suppressed_ids, std::vector<uint32_t>{12});
  const ModelSpec named = load_checkpoint(both.folder / "model.npz", {both.folder / "other.yml", {}});
  EXPECT_EQ(named.generation.beam_size, 4u);
}

TEST(MarianNativeText, WarnsOfWhatItDoesNotDo) {
  NativeFolder checkpoint;
  checkpoint.decoder +=
      "max-length-factor: 2.5\noutput-sampling: true\nmax-length: 40\nbeem-size: 2\nmax-length-crop: false\n"
      "output-approx-knn: []\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.positions.rows, 40u);
  EXPECT_EQ(spec.generation.rules, (RulesSpec{.force_end = false, .max_length_factor = 2.5f}));
  const std::string setting = checkpoint.file("decoder.yml") + ": setting ";
  EXPECT_EQ(spec.warnings,
      (std::vector<std::string>{setting + "\"beem-size\" is not known and was ignored; did you mean \"beam-size\"?",
          setting + "\"output-sampling\" is not supported and was ignored"}));
}

// The shortlist of a Marian model: named by its settings, found in its folder, or not usable.

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
  expect_error([&] { folder.load(); }, {where + " is {\"a\":\"b\"}, expected a list that begins with a file's name"});
  folder.decoder = decoder + "shortlist: [lex.s2t, many]\n";
  expect_error([&] { folder.load(); }, {where + " has \"many\", expected a number"});
  folder.decoder = decoder + "shortlist: [lex.s2t, -1]\n";
  expect_error([&] { folder.load(); }, {where + " has -1, expected a number"});
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
  expect_error([&] { read_shortlist(folder.folder / "b", spec); },
      {folder.file("b") + ": a shortlist of texts needs the vocabularies of both sides, which the checkpoint lacks"});
}

// Files that hold a shortlist: their contents, and every damage with its message.

using Ids = std::vector<uint32_t>;

// Returns the error's message after the file's path, or "no error".
template <typename Read> std::string message_of(const std::string& bytes, Read read) {
  static const TemporaryFolder folder;
  const std::filesystem::path path = folder.write("lex", bytes);
  return error_of([&] { read(path); }, path.string());
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
      ": has 52 bytes after its header, which says 9223372036854775807 offsets and 5 ids: it is truncated or damaged");
  std::string changed = good;
  changed[50] = 1;
  EXPECT_EQ(binary_message(changed).substr(0, 17), ": its checksum is");
  const auto lists = [](const BinaryLists& of) { return binary_message(of.bytes()); };
  EXPECT_EQ(lists({3, {0, 2, 2, 2, 2, 5}, {1, 7, 0, 4, 9}}),
      ": has lists for 5 source ids, but the model has 4; is it another model's?");
  EXPECT_EQ(
      lists({3, {0, 2, 2, 4}, {1, 7, 0, 4, 9}}), ": its offsets go from 0 to 4, expected from 0 to 5: it is damaged");
  EXPECT_EQ(
      lists({3, {0, 3, 2, 5}, {1, 7, 9, 4, 9}}), ": the list of the source id 1 ends before it begins: it is damaged");
  EXPECT_EQ(
      lists({3, {0, 9, 9, 5}, {1, 7, 0, 4, 9}}), ": the list of the source id 0 ends before it begins: it is damaged");
  EXPECT_EQ(lists({3, {0, 2, 2, 5}, {7, 7, 0, 4, 9}}), ": the list of the source id 0 is not ascending: it is damaged");
  EXPECT_EQ(lists({3, {0, 2, 2, 5}, {1, 10, 0, 4, 9}}),
      ": the source id 0 lists the target id 10, expected less than 10; is it another model's?");
}

TEST(ShortlistFile, DamagedBinariesAreRefused) {
  const std::string good = BinaryLists().bytes();
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(binary_message(good.substr(0, n)), "no error") << n;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    // The last, odd id is not in the checksum, which covers whole words of eight bytes.
    if (i < good.size() - 4) {
      EXPECT_NE(binary_message(changed), "no error") << i;
    }
  }
}

TokenizerSpec words(std::vector<std::string> texts) {
  TokenizerSpec spec = {.unknown_id = 1};
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
  EXPECT_EQ(lexical(content, {2, 1, 0.1}).ids, (Ids{3, 1, 4, 6}));  // the greater id of equal probabilities
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
  EXPECT_EQ(warnings,
      (std::vector<std::string>{(folder / "vmap.txt").string() +
                                ": 1 of its lines and 1 of its candidates are not of this model's vocabularies"}));
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
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::string content(1 + rng.below(60), ' ');
    for (char& c : content) c = letters[rng.below(static_cast<uint32_t>(letters.size()))];
    std::vector<std::string> warnings;
    message_of(content, [&](const auto& path) { read_lexical_shortlist(path, {texts.source, texts.target}, {}); });
    message_of(content, [&](const auto& path) { read_vocabulary_map(path, {texts.source, texts.target}, warnings); });
  }
}
}}  // namespace goldcrest::converter
