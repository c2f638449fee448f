// SPDX-License-Identifier: Apache-2.0
// The engine's list of matrices says of every layer what the neutral spec's own check expects, and what a file holds.
#include "model/blocks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "file/build.h"
#include "model_generated.h"
#include "spec/error.h"
#include "spec/validate_spec.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

using Shape = std::array<uint32_t, 2>;

std::vector<LinearSpec*> linears_of(ModelSpec& spec) {
  std::vector<LinearSpec*> linears;
  for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    for (LayerSpec& layer : stack->layers) {
      const auto add = [&](AttentionSpec& of) {
        linears.insert(linears.end(), {&of.query, &of.key, &of.value, &of.out});
      };
      if (layer.self_attention) add(*layer.self_attention);
      if (layer.recurrent) linears.insert(linears.end(), {&layer.recurrent->input, &layer.recurrent->forget});
      if (layer.cross_attention) add(*layer.cross_attention);
      linears.insert(linears.end(), {&layer.feed_forward.in, &layer.feed_forward.out});
    }
  }
  return linears;
}

// What validate_spec calls each matrix of the layers and which shape it wants: said when the matrix is missing.
std::map<std::string, Shape> expected_by_spec(const ModelSpec& spec) {
  std::map<std::string, Shape> expected;
  ModelSpec whole = spec;
  for (size_t i = 0; i < linears_of(whole).size(); ++i) {
    ModelSpec broken = spec;
    linears_of(broken)[i]->weight.reset();
    try {
      validate_spec(broken);
      ADD_FAILURE() << "accepted without matrix " << i;
    } catch (const Error& error) {
      char role[100];
      Shape shape;
      const char* const text = "%99s has no weight; expected the shape [%u, %u]";
      EXPECT_EQ(std::sscanf(error.what(), text, role, shape.data(), shape.data() + 1), 3) << error.what();
      EXPECT_TRUE(expected.emplace(role, shape).second) << role;
    }
  }
  return expected;
}

// "query_key_value" -> query, key, value: what the spec has apart.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream words(name);
  for (std::string word; std::getline(words, word, '_');) parts.push_back(word);
  return parts;
}

enum class Kind { kEncoder, kDecoder, kRecurrent };  // of layer

// Takes what one layer's list says out of `expected`.
void compare_layer(const std::string& layer, Kind kind, const BlockWidths& widths,
                   std::map<std::string, Shape>& expected) {
  const auto compare = [&](const MatrixEntry& entry) {
    const std::string path = entry.name;  // layers.BLOCK.MATRIX
    const size_t block = path.find('.') + 1, matrix = path.rfind('.') + 1;
    const std::vector<std::string> parts = parts_of(path.substr(matrix));
    uint32_t rows = 0;
    for (const std::string& part : parts) {
      const auto found = expected.find(layer + "." + path.substr(block, matrix - block) + part);
      ASSERT_NE(found, expected.end()) << layer << " " << entry.name;
      rows += entry.n.width == Width::kPaddedModel ? pad16(found->second[0]) : found->second[0];
      EXPECT_EQ(found->second[1], entry.k.in(widths)) << found->first;
      expected.erase(found);
    }
    EXPECT_EQ(rows, entry.n.in(widths)) << layer << " " << entry.name;
  };
  const auto compare_block = [&](auto block) { block.for_each_matrix(compare); };
  if (kind == Kind::kEncoder) for_each_encoder_block(compare_block);
  if (kind == Kind::kDecoder) for_each_decoder_block(compare_block);
  if (kind == Kind::kRecurrent) for_each_recurrent_block(compare_block);
}

TEST(Blocks, TheListIsWhatTheSpecsCheckExpects) {
  ModelSpec spec = test::random_spec(3);
  spec.decoder.layers.push_back(test::random_recurrent_spec(3).decoder.layers[1]);
  std::map<std::string, Shape> expected = expected_by_spec(spec);
  EXPECT_EQ(expected.size(), 6u + 2 * 10 + 8);
  for (const bool is_decoder : {false, true}) {
    const StackSpec& stack = is_decoder ? spec.decoder : spec.encoder;
    const BlockWidths widths = {
        {stack.d_model, stack.n_heads * stack.d_head, stack.d_ff, spec.encoder.d_model, pad16(stack.d_model)}};
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      const std::string layer = (is_decoder ? "decoder.layers." : "encoder.layers.") + std::to_string(i);
      const Kind kind = !is_decoder ? Kind::kEncoder : stack.layers[i].recurrent ? Kind::kRecurrent : Kind::kDecoder;
      compare_layer(layer, kind, widths, expected);
    }
  }
  for (const auto& [role, shape] : expected) ADD_FAILURE() << "not in the list: " << role;
}

TEST(Blocks, TheListIsWhatAFileHolds) {
  ModelSpec spec = test::random_spec(4);
  spec.decoder.layers.push_back(test::random_recurrent_spec(4).decoder.layers[1]);
  const Payload payload = build_payload(spec, {});
  const format::ModelT& model = *payload.metadata;
  size_t n = 0;
  for (const format::StackT* stack : {model.encoder.get(), model.decoder.get()}) {
    const BlockWidths widths = {
        {stack->d_model, stack->n_heads * stack->d_head, stack->d_ff, model.encoder->d_model, pad16(stack->d_model)}};
    for_each_linear(*stack, [&](const MatrixEntry& entry, const format::LinearT& linear) {
      EXPECT_EQ(linear.n, entry.n.in(widths)) << entry.name;
      EXPECT_EQ(linear.k, entry.k.in(widths)) << entry.name;
      ++n;
    });
  }
  EXPECT_EQ(n, 4u + 2 * 7 + 6);
}

}  // namespace
}  // namespace goldcrest::converter
