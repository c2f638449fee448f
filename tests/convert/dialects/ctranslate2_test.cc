// SPDX-License-Identifier: Apache-2.0
// Compares CTranslate2's models with Marian's formula, and reads one model in every type and version of model.bin.
#include "convert/support/ctranslate2_folder.h"
#include "convert/support/native_folder.h"
#include "file/build.h"
#include "quantize/quantize.h"
#include "reference/reference_search.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter { namespace {
using namespace test;

const std::vector<int32_t> kSource = {3, 7, 2, 11, 5, 0}, kTarget = {4, 9, 2, 2, 6, 10, 3};

Logits logits_of(const ModelSpec& spec) {
  const Reference reference(spec);
  return reference.teacher_forced_logits(reference.encode(kSource), kTarget);
}

TEST(CTranslate2, TheReferenceIsTheFormula) {
  CTranslate2Folder checkpoint(kFloat32, 3);
  checkpoint.config["layer_norm_epsilon"] = 1e-6;
  const ModelSpec spec = checkpoint.load();
  EXPECT_NO_THROW(validate_spec(spec));
  EXPECT_EQ(spec.dialect, "ctranslate2");
  const Logits logits = logits_of(spec);
  const NativeFormula formula(checkpoint.native, checkpoint.shape);
  NativeFormula::State state = formula.start(kSource);
  for (size_t p = 0; p < kTarget.size(); ++p) {
    const NativeFormula::Row expected = formula.step(p == 0 ? -1 : kTarget[p - 1], state);
    for (size_t id = 0; id < expected.size(); ++id) EXPECT_NEAR(logits.row(p)[id], expected[id], 2e-5) << id;
    EXPECT_EQ(logits.row(p)[12], -65536.0f);  // the start id
  }
}

TEST(CTranslate2, EveryTypeAndVersionIsTheSameModel) {
  const Logits expected = logits_of(CTranslate2Folder().load());
  const auto difference = [&](const CTranslate2Folder& checkpoint) {
    const Logits found = logits_of(checkpoint.load());
    float largest = 0;
    for (size_t i = 0; i < expected.rows; ++i)
      for (size_t id = 0; id < 12; ++id) largest = std::max(largest, std::fabs(found.row(i)[id] - expected.row(i)[id]));
    return largest;
  };
  for (const auto& [type, most] : {std::pair{kFloat16, 0.02f}, {kBfloat16, 0.1f}, {kInt16, 0.02f}, {kInt8, 0.1f}}) {
    const float found = difference(CTranslate2Folder(type));
    EXPECT_GT(found, 0) << type;
    EXPECT_LT(found, most) << type;
  }
  CTranslate2Folder old;
  for (const uint32_t version : {3u, 4u, 5u, 6u}) {
    old.model.version = version;
    EXPECT_EQ(difference(old), 0) << version;
  }
  for (const auto& [alias, name] : old.model.aliases) {
    CTranslate2Variable copy = old.model.at(name);
    copy.name = alias;
    old.model.variables.push_back(copy);
  }
  old.model.version = 2;
  EXPECT_EQ(difference(old), 0);
}

TEST(CTranslate2, AnInt8ModelKeepsItsRows) {
  CTranslate2Folder checkpoint(kInt8);
  const ModelSpec spec = checkpoint.load();
  const std::vector<float>& native = checkpoint.native[0].values;  // Wemb
  for (uint32_t r = 0; r < 12; ++r) {
    float amax = 0;
    for (uint32_t c = 0; c < 8; ++c) amax = std::max(amax, std::fabs(native[r * 8 + c]));
    EXPECT_EQ(spec.decoder.embedding->stored_scale[r], 1 / (127.0f / amax));
    for (uint32_t c = 0; c < 8; ++c)
      EXPECT_EQ(spec.decoder.embedding->row(r)[c],
          std::nearbyint(native[r * 8 + c] * (127.0f / amax)) * (1 / (127.0f / amax)));
  }
  EXPECT_EQ(spec.decoder.embedding, spec.encoder.embedding);
  EXPECT_EQ(spec.decoder.embedding, spec.projection.weight);
  // Keys are stored as rows of one matrix with queries and values.
  const Matrix& key = *spec.decoder.layers[1].cross_attention->key.weight;
  const std::vector<CTranslate2Variable>& variables = checkpoint.model.variables;
  const auto stored = std::find_if(variables.begin(), variables.end(),
      [](const CTranslate2Variable& v) { return v.name == "decoder/layer_1/attention/linear_1/weight"; });
  QuantizedMatrix quantized(8, 8);
  EXPECT_EQ(quantize_rows(key, Placement::in_order(8), Placement::in_order(8), 0, quantized),
      std::numeric_limits<double>::infinity());
  for (size_t r = 0; r < 8; ++r)
    for (size_t c = 0; c < 8; ++c)
      EXPECT_EQ(quantized.weights[r * 16 + c], static_cast<int8_t>(stored->data[r * 8 + c])) << r << " " << c;
  for (const TensorRecord& tensor : build_payload(spec, {}).tensors)
    EXPECT_EQ(tensor.sqnr_db.value_or(INFINITY), INFINITY) << tensor.name;
}

TEST(CTranslate2, ItsIdsAndSearch) {
  CTranslate2Folder checkpoint;
  const ModelSpec spec = checkpoint.load();
  const GenerationSpec& generation = spec.generation;
  EXPECT_EQ(generation.decoder_start_id, 12u);
  EXPECT_EQ(generation.suppressed_ids, std::vector<uint32_t>{12});
  EXPECT_EQ(generation.end_id, 0u);
  EXPECT_EQ(generation.unknown_id, 1u);
  EXPECT_EQ(generation.source_suffix, std::vector<uint32_t>{0});
  EXPECT_TRUE(generation.source_prefix.empty());
  EXPECT_EQ(generation.beam_size, 2u);
  EXPECT_EQ(generation.length_penalty, 1.0f);
  EXPECT_EQ(generation.max_target_tokens, 64u);
  EXPECT_EQ(generation.min_target_tokens, 2u);
  EXPECT_EQ(
      generation.rules, (RulesSpec{.renormalize = true, .force_end = false, .early_stopping = GOLDCREST_STOP_FULL}));
  EXPECT_EQ(spec.added_target_ids, 1u);
  EXPECT_EQ(spec.name, checkpoint.folder.path().filename().string());
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 13u);
  EXPECT_EQ(spec.encoder.layers[0].feed_forward.norm.epsilon, 1e-5f);
  EXPECT_EQ(spec.warnings,
      (std::vector<std::string>{checkpoint.file("model.bin") +
                                ": there is no SentencePiece model next to it: a text is a list of entries of " +
                                checkpoint.file("shared_vocabulary.json") + ", separated by spaces"}));
}

TEST(CTranslate2, EmbeddingsHaveAFlagOrAScale) {
  CTranslate2Folder checkpoint;
  const float root = std::sqrt(8.0f);
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, root);
  checkpoint.model.set(scalar("encoder/scale_embeddings", kInt8, 0));
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, 1);
  checkpoint.model.set(scalar("encoder/scale_embeddings", kFloat32, 1));
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, 1);
  checkpoint.model.set(scalar("encoder/scale_embeddings", kFloat32, 5.5f));
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, 5.5f);
  checkpoint.model.remove("encoder/scale_embeddings");
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, root);
  checkpoint.model.set(scalar("encoder/embeddings/multiply_by_sqrt_depth", kInt8, 0));
  EXPECT_EQ(checkpoint.load().encoder.embedding_scale, 1);
  EXPECT_EQ(checkpoint.load().decoder.embedding_scale, root);
}

// OpenNMT-tf's positions: sines, then cosines; the first position is 1.
TEST(CTranslate2, PositionsWithoutATable) {
  CTranslate2Folder checkpoint;
  checkpoint.model.remove("encoder/position_encodings/encodings");
  checkpoint.model.remove("decoder/position_encodings/encodings");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.max_target_tokens, 256u);
  for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    ASSERT_EQ(stack->positions.rows, 1024u);
    for (const uint32_t p : {0u, 1u, 900u}) {
      for (uint32_t i = 0; i < 4; ++i) {
        const double angle = (p + 1) * std::pow(10000.0, -static_cast<double>(i) / 3);
        EXPECT_NEAR(stack->positions.row(p)[i], std::sin(angle), 1e-6);
        EXPECT_NEAR(stack->positions.row(p)[4 + i], std::cos(angle), 1e-6);
      }
    }
  }
}

TEST(CTranslate2, ALongTableOfPositionsIsCut) {
  CTranslate2Folder checkpoint;
  NamedTensor table = {"decoder/position_encodings/encodings", {1030, 8}, std::vector<float>(1030 * 8)};
  for (size_t i = 0; i < table.values.size(); ++i) table.values[i] = static_cast<float>(i % 97);
  checkpoint.model.set(variable(table));
  const ModelSpec spec = checkpoint.load();
  ASSERT_EQ(spec.encoder.positions.rows, 1024u);
  table.values.resize(size_t{1024} * 8);
  EXPECT_EQ(spec.encoder.positions.values, table.values);
}

// x sigmoid(1.702 x), for which Goldcrest has no block.
TEST(CTranslate2, GeluByASigmoidIsSiluOfOtherWeights) {
  for (const CTranslate2Type type : {kFloat32, kInt8}) {
    CTranslate2Folder checkpoint(type);
    const ModelSpec plain = checkpoint.load();
    checkpoint.model.set(scalar("encoder/activation", kInt8, 4));
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.activation, Activation::kSilu);
    const FeedForwardSpec &block = spec.encoder.layers[0].feed_forward, &before = plain.encoder.layers[0].feed_forward;
    for (uint32_t r = 0; r < 16; ++r) {
      EXPECT_NEAR(block.in.bias[r], 1.702f * before.in.bias[r], 1e-6);
      for (uint32_t c = 0; c < 8; ++c) {
        EXPECT_NEAR(block.in.weight->row(r)[c], 1.702f * before.in.weight->row(r)[c], 1e-6);
        EXPECT_NEAR(block.out.weight->row(c)[r], before.out.weight->row(c)[r] / 1.702f, 1e-6);
      }
    }
    EXPECT_EQ(block.out.bias, before.out.bias);
    EXPECT_NO_THROW(build_payload(spec, {}));  // int8 rows are still integers times their scales
  }
}

TEST(CTranslate2, GraphsThatItReads) {
  CTranslate2Folder checkpoint;
  constexpr Activation kActivations[] = {
      Activation::kRelu, Activation::kGeluTanh, Activation::kSilu, Activation::kGelu};
  for (size_t id = 0; id < std::size(kActivations); ++id) {
    checkpoint.model.set(scalar("decoder/activation", kInt8, static_cast<float>(id)));
    EXPECT_EQ(checkpoint.load().decoder.activation, kActivations[id]);
  }
  const std::vector<float> ones(8, 1), halves(8, 0.5f);
  for (const char* stack : {"encoder", "decoder"}) {
    checkpoint.model.set(scalar(std::string(stack) + "/pre_norm", kInt8, 1));
    for (const char* norm : {"/layer_norm", "/layernorm_embedding"}) {
      checkpoint.model.set(variable({stack + std::string(norm) + "/gamma", {8}, ones}));
      checkpoint.model.set(variable({stack + std::string(norm) + "/beta", {8}, halves}));
    }
  }
  checkpoint.model.set(scalar("decoder/layer_0/attention/queries_scale", kFloat32, 0.5f));
  checkpoint.model.remove("decoder/projection/bias");
  checkpoint.model.remove("decoder/projection/weight");
  checkpoint.model.set(variable({"decoder/projection/weight", {12, 8}, std::vector<float>(96, 0.25f)}));
  checkpoint.model.remove("encoder/layer_1/ffn/linear_0/bias");
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.encoder.pre_norm);
  EXPECT_EQ(spec.encoder.final_norm->gamma, ones);
  EXPECT_EQ(spec.decoder.embedding_norm->beta, halves);
  EXPECT_NE(spec.projection.weight, spec.decoder.embedding);
  EXPECT_EQ(spec.projection.bias, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -65536}));
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.in.bias, std::vector<float>(16, 0.0f));
}

// Until revision 5 one setting serves both stacks; until revision 3 the specification's name tells the heads.
TEST(CTranslate2, OlderRevisions) {
  CTranslate2Folder checkpoint;
  for (const char* name : {"num_heads", "pre_norm", "activation"})
    for (const char* stack : {"encoder/", "decoder/"}) checkpoint.model.remove(stack + std::string(name));
  checkpoint.model.revision = 4;
  checkpoint.model.set(scalar("num_heads", kInt8, 4));
  checkpoint.model.set(scalar("pre_norm", kInt8, 0));
  checkpoint.model.set(scalar("activation", kInt8, 2));
  checkpoint.model.set(scalar("alignment_layer", kInt16, 1));
  ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.n_heads, 4u);
  EXPECT_FALSE(spec.decoder.pre_norm);
  EXPECT_EQ(spec.decoder.activation, Activation::kSilu);
  checkpoint.model.remove("num_heads");
  checkpoint.model.revision = 2;
  checkpoint.model.spec = "TransformerBase";
  EXPECT_EQ(checkpoint.load().decoder.n_heads, 8u);
  checkpoint.model.spec = "TransformerBig";
  EXPECT_EQ(checkpoint.message(),
      "model.bin: setting \"encoder/num_heads\" is 16, expected a number that divides the even width 8");
}

// Messages about CTranslate2's models that Goldcrest does not compute, and about variables and settings that do not
// fit.

using test::CTranslate2Folder;

TEST(CTranslate2Refusals, NamesWhatItDoesNotCompute) {
  struct Case {
    CTranslate2Variable variable;
    const char* what;
  };
  const auto tensor = [](const char* name) { return variable({name, {2}, {1, 1}}); };
  const auto number = [](const char* name, float value) { return scalar(name, kInt32, value); };
  const Case cases[] = {{tensor("encoder/layer_0/self_attention/relative_position_keys"), "relative positions are"},
      {tensor("encoder/layer_0/self_attention/relative_asymmetric_position_keys"), "relative positions are"},
      {number("encoder/layer_0/self_attention/relative_left_max_position", 4), "relative positions are"},
      {tensor("encoder/layer_0/self_attention/relative_attention_bias"), "relative attention biases are"},
      {number("decoder/layer_0/self_attention/relative_attention_max_distance", 9), "relative attention biases are"},
      {number("decoder/layer_0/self_attention/rotary_dim", 0), "rotary positions are"},
      {number("decoder/layer_0/self_attention/original_max_position_embeddings", 9), "rotary positions are"},
      {number("decoder/layer_0/self_attention/num_heads_kv", 1), "multi-query attention is"},
      {number("decoder/layer_0/self_attention/multi_query", 1), "multi-query attention is"},
      {number("decoder/layer_0/self_attention/head_dim", 4),
          "heads of another width than the model's over their number are"},
      {tensor("encoder/layer_0/ffn/linear_0_noact/weight"), "a gated feed-forward network is"},
      {tensor("encoder/layer_0/self_attention/q_norm/gamma"), "norms of queries, keys or values are"},
      {tensor("decoder/project_in/weight"), "projections around a stack are"},
      {scalar("decoder/scale_outputs", kFloat32, 0.5f), "a scale of the decoder's output is"},
      {scalar("decoder/final_logit_softcapping", kFloat32, 30), "capped logits are"},
      {number("decoder/sliding_window", 8), "a sliding window is"},
      {tensor("decoder/layer_0/shared_layer_norm/gamma"),
          "norms on both sides of a block, and parallel residuals, are"},
      {tensor("decoder/layer_0/external_pre_encoder_attention_layer_norm/gamma"),
          "norms on both sides of a block, and parallel residuals, are"},
      {tensor("encoder/layer_0/self_attention/linear_0/weight_zero"), "4-bit weights are"},
      {tensor("encoder/embeddings_1/weight"), "several words per position (source features) are"},
      {tensor("encoder/conv1/weight"), "convolutions are"},
      {number("decoder/layer_0/self_attention/merged_encoder_attention", 1),
          "self-attention and cross-attention in one are"},
      {scalar("decoder/layer_0/layer_scalar", kFloat32, 2), "scaled layers are"},
      {number("decoder/layer_norm/layer_norm_use_residual", 1), "RMS norms are"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.model.set(c.variable);
    EXPECT_EQ(checkpoint.message(), format_text("model.bin: {} \"{}\": {} not supported",
                                        c.variable.shape.empty() ? "setting" : "tensor", c.variable.name, c.what));
  }
}

TEST(CTranslate2Refusals, FlagsAndNumbers) {
  struct Case {
    const char* name;
    float value;
    const char* message;  // after the setting's name
  };
  const Case cases[] = {{"decoder/alibi", 1, " is set: ALiBi is not supported"},
      {"encoder/multi_query_attention", 1, " is set: multi-query attention is not supported"},
      {"encoder/activation", 5,
          " is 5 (tanh), expected 0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 4 (GELU by a sigmoid)"},
      {"decoder/activation", 6,
          " is 6 (a sigmoid), expected 0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 4 (GELU by a sigmoid)"},
      {"encoder/num_heads", 0, " is \"0\", expected an integer from 1 to 256"},
      {"encoder/num_heads", 3, " is 3, expected a number that divides the even width 8"},
      {"decoder/pre_norm", 2, " is \"2\", expected an integer from 0 to 1"},
      {"decoder/scale_embeddings", 2, " is \"2\", expected an integer from 0 to 1"},
      {"decoder/layer_0/self_attention/queries_scale", 1,
          " is 1, expected 0.5: other scales of queries are not supported"},
      {"decoder/temperature", 1, " is not known, and may change the graph"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.model.set(scalar(c.name, kInt16, c.value));
    EXPECT_EQ(checkpoint.message(), format_text("model.bin: setting \"{}\"{}", c.name, c.message));
  }
}

TEST(CTranslate2Refusals, TensorsThatAreMissingOrNotKnown) {
  CTranslate2Folder rms;
  rms.model.remove("encoder/layer_1/ffn/layer_norm/beta");
  EXPECT_EQ(rms.message(),
      "model.bin: tensor \"encoder/layer_1/ffn/layer_norm/gamma\": has no beta next to it: RMS norms are not "
      "supported");
  CTranslate2Folder missing;
  missing.model.remove("encoder/layer_1/ffn/linear_1/weight");
  EXPECT_EQ(missing.message(),
      "model.bin: tensor \"encoder/layer_1/ffn/linear_1/weight\" is missing; the nearest names that it has: "
      "\"encoder/layer_0/ffn/linear_1/weight\"");
  CTranslate2Folder wide;
  wide.model.set(variable({"decoder/layer_0/attention/linear_1/bias", {8}, std::vector<float>(8)}));
  EXPECT_EQ(
      wide.message(), "model.bin: tensor \"decoder/layer_0/attention/linear_1/bias\" has shape [8], expected [16]");
  CTranslate2Folder infinite;
  infinite.model.set(variable({"decoder/projection/bias", {12}, std::vector<float>(12, INFINITY)}));
  EXPECT_EQ(infinite.message(),
      "model.bin: tensor \"decoder/projection/bias\" has the value inf at [0], expected finite numbers; the checkpoint "
      "is damaged or its training diverged");
  CTranslate2Folder strange;
  strange.model.set(variable({"decoder/layer_0/adapter/weight", {2}, {1, 2}}));
  EXPECT_EQ(
      strange.message(), "model.bin: tensor \"decoder/layer_0/adapter/weight\" is not known, and may change the graph");
  CTranslate2Folder narrow;
  narrow.model.set(variable({"decoder/embeddings/weight", {12}, std::vector<float>(12)}));
  EXPECT_EQ(narrow.message(),
      "model.bin: tensor \"encoder/embeddings_0/weight\" has shape [12] and the feed-forward network's [16, 8], "
      "expected [rows, 4 to 65536] and 1 to 65536 rows");
  CTranslate2Folder alone;
  for (const char* layer : {"0", "1"})
    for (const char* end : {"linear_0/weight", "linear_0/bias", "linear_1/weight", "linear_1/bias", "linear_2/weight",
             "linear_2/bias", "layer_norm/gamma", "layer_norm/beta"})
      alone.model.remove(format_text("decoder/layer_{}/attention/{}", layer, end));
  EXPECT_EQ(alone.message(),
      "model.bin: has no variable \"decoder/layer_0/attention/linear_0/weight\": this is not an encoder-decoder");
}

TEST(CTranslate2Refusals, SpecificationsAndRevisions) {
  CTranslate2Folder checkpoint;
  for (const uint32_t revision : {1u, 8u}) {
    checkpoint.model.revision = revision;
    EXPECT_EQ(checkpoint.message(),
        format_text("model.bin: is of revision {} of TransformerSpec, expected 2 to 7", revision));
  }
  checkpoint.model.revision = 7;
  checkpoint.model.spec = "OtherSpec";
  EXPECT_EQ(
      checkpoint.message(), "model.bin: is a model of the specification \"OtherSpec\", expected \"TransformerSpec\"");
  checkpoint.model.spec = "TransformerDecoderSpec";
  EXPECT_EQ(checkpoint.message(),
      "model.bin: this is a CTranslate2 model of a decoder-only language model; Goldcrest runs encoder-decoder "
      "Transformers; it cannot be converted");
  checkpoint.model.spec = "Wav2Vec2Spec";
  EXPECT_EQ(checkpoint.message(),
      "model.bin: this is a CTranslate2 model of speech without a decoder (Wav2Vec2); Goldcrest runs encoder-decoder "
      "Transformers; it cannot be converted");
  checkpoint.model.spec = "TransformerEncoderSpec";
  EXPECT_EQ(checkpoint.message(),
      "model.bin: this is a CTranslate2 model of an encoder without a decoder; Goldcrest runs encoder-decoder "
      "Transformers; it cannot be converted");
  // Version 1 has no specification; its names are OpenNMT-tf's.
  checkpoint.model.version = 1;
  checkpoint.model.variables = {variable({"transformer/decoder/LayerNorm/beta:0", {2}, {1, 1}})};
  EXPECT_EQ(checkpoint.message(),
      "model.bin: is of binary version 1, expected 2 to 6; convert the model again with a CTranslate2 of these");
}

TEST(CTranslate2Refusals, SettingsOfConfigJson) {
  struct Case {
    const char *key, *value, *message;
  };
  const Case cases[] = {
      {"decoder_start_token", "null", "no error"},  // a model that starts from zero needs no start token
      {"layer_norm_epsilon", "0",
          "setting \"layer_norm_epsilon\" is \"0\", expected a number from 9.999999960041972e-13 to 1"},
      {"add_source_eos", "1", "setting \"add_source_eos\" is \"1\", expected true or false"},
      {"eos_token", "null", "setting \"eos_token\" is missing"},
      {"unk_token", "5", "setting \"unk_token\" is \"5\", expected a text"},
      {"quantization_type", "1", "setting \"quantization_type\" is not known, and may change the graph"},
      {"decoder_start_tokens", "1",
          "setting \"decoder_start_tokens\" is not known, and may change the graph; did you mean "
          "\"decoder_start_token\"?"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.config[c.key] = nlohmann::json::parse(c.value);
    const std::string message = checkpoint.message();
    EXPECT_EQ(message, std::string(c.message) == "no error" ? "no error" : std::string("config.json: ") + c.message)
        << c.key;
  }
  CTranslate2Folder checkpoint;
  checkpoint.config = nullptr;
  EXPECT_EQ(checkpoint.message(),
      "config.json: is missing; it tells the model's special tokens: copy it from where the model came from");
  checkpoint.folder.write("config.json", "[1]");
  EXPECT_EQ(checkpoint.message(), "config.json: found a JSON array, expected an object");
}
}}  // namespace goldcrest::converter
