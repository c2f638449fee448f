// SPDX-License-Identifier: Apache-2.0
// Compares Marian's own models with their formula, and the models that each container gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "convert/support/native_folder.h"
#include "file/build.h"
#include "quantize/quantize.h"
#include "reference/reference_search.h"
#include "spec/error.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter {
namespace {

using namespace test;

const std::vector<int32_t> kSource = {3, 7, 2, 11, 5, 0};

void expect_near(const NativeFormula::Row& formula, std::span<const float> logits) {
  for (size_t id = 0; id < formula.size(); ++id) EXPECT_NEAR(logits[id], formula[id], 2e-5) << id;
}

TEST(MarianNative, TheReferenceIsTheFormula) {
  for (const bool is_recurrent : {true, false}) {
    NativeFolder checkpoint;
    checkpoint.shape.is_recurrent = is_recurrent;
    checkpoint.tensors = test::native_tensors(checkpoint.shape, 3);
    checkpoint.settings = test::native_settings(checkpoint.shape);
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
  checkpoint.folder.write("model.npz", test::npz_bytes(checkpoint.tensors, checkpoint.settings, true));
  const ModelSpec deflated = load_checkpoint(checkpoint.folder / "model.npz", {});
  checkpoint.folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\n");
  checkpoint.folder.write(
      "model.bin", binary_bytes(test::binary_items(checkpoint.tensors, checkpoint.settings, BinaryKind::kFloat)));
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
    checkpoint.folder.write("model.bin",
                            binary_bytes(test::binary_items(checkpoint.tensors, checkpoint.settings, kind)));
    const ModelSpec spec = load_checkpoint(checkpoint.folder.path(), {});
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings[0];
    const test::NamedTensor& wq = checkpoint.tensor("encoder_l1_self_Wq");
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
    for (const TensorRecord& tensor : build_payload(spec, {}).tensors) {
      EXPECT_EQ(tensor.sqnr_db.value_or(INFINITY), INFINITY) << tensor.name;
    }
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
  const auto message = [&] {
    try {
      checkpoint.load();
      return std::string("read");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const std::string file = checkpoint.file("model.npz");
  EXPECT_EQ(message(),
            file + ": tensor \"decoder_l2_rnn_Wf\" is missing; the nearest names that it has: \"decoder_l1_rnn_Wf\"");
  checkpoint.add("decoder_l2_rnn_Wf", {8, 9}, 0);
  EXPECT_EQ(message(), file + ": tensor \"decoder_l2_rnn_Wf\" has shape [8, 9], expected [8, 8]");
  checkpoint.tensor("decoder_l2_rnn_Wf") = {"decoder_l2_rnn_Wf", {8, 8}, std::vector<float>(64, INFINITY)};
  EXPECT_EQ(message(), file +
                           ": tensor \"decoder_l2_rnn_Wf\" has the value inf at [0, 0], expected finite numbers; the "
                           "checkpoint is damaged or its training diverged");
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
       "\"transformer-decoder-autoreg\" is \"average-attention\", expected \"self-attention\" or \"rnn\": other graphs "
       "are not read"},
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
       "\"transformer-postprocess\" is \"dhn\" and transformer-preprocess \"\", expected \"dan\" and \"\", or \"da\" "
       "and "
       "\"n\""},
      {"transformer-preprocess", "n",
       "\"transformer-postprocess\" is \"dan\" and transformer-preprocess \"n\", expected \"dan\" and \"\", or \"da\" "
       "and "
       "\"n\""},
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
  EXPECT_EQ(message_of(checkpoint),
            checkpoint.file("model.npz") +
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
  checkpoint.tensors = test::native_tensors(checkpoint.shape, 2);
  checkpoint.settings = test::native_settings(checkpoint.shape);
  checkpoint.set("transformer-ffn-activation", "swish");
  checkpoint.set("transformer-preprocess", "dn");
  checkpoint.set("transformer-postprocess", "da");
  checkpoint.set("transformer-postprocess-emb", "nd");
  checkpoint.set("transformer-postprocess-top", "n");
  checkpoint.set("input-types", "[sequence, sequence]");
  for (test::NamedTensor& tensor : checkpoint.tensors)
    if (tensor.name.find("_ln_") != std::string::npos) tensor.name += "_pre";
  for (const std::string stack : {"encoder", "decoder"}) {
    for (const std::string& name :
         {stack + "_emb_ln_scale_pre", stack + "_emb_ln_bias_pre", stack + "_top_ln_scale", stack + "_top_ln_bias"}) {
      checkpoint.add(name, {1, 8}, 0.25f);
    }
  }
  const ModelSpec pre = checkpoint.load();
  EXPECT_TRUE(pre.decoder.pre_norm);
  EXPECT_EQ(pre.decoder.activation, Activation::kSilu);
  EXPECT_TRUE(pre.decoder.layers[0].self_attention.has_value());
  EXPECT_EQ(pre.encoder.embedding_norm->gamma[0], 0.25f);
  EXPECT_EQ(pre.decoder.final_norm->beta[7], 0.25f);
  EXPECT_TRUE(pre.warnings.empty()) << pre.warnings[0];

  checkpoint.set("transformer-decoder-autoreg", "rnn");
  checkpoint.set("dec-cell", "ssru");
  EXPECT_NE(message_of(checkpoint).find("tensor \"decoder_l1_rnn_W\" is missing"), std::string::npos);
  EXPECT_NE(message_of(checkpoint).find("\"decoder_l1_rnn_ln_scale_pre\""), std::string::npos)
      << message_of(checkpoint);
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

}  // namespace
}  // namespace goldcrest::converter
