// SPDX-License-Identifier: Apache-2.0
// Compares Marian's own models with their formula, and the models that each container gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "convert/support/native_folder.h"
#include "convert/support/native_formula.h"
#include "file/build.h"
#include "quantize/quantize.h"
#include "reference/reference_search.h"
#include "spec/error.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter {
namespace {

using test::binary_bytes;
using test::BinaryKind;
using test::NativeFolder;
using test::NativeFormula;

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

}  // namespace
}  // namespace goldcrest::converter
