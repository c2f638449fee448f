// SPDX-License-Identifier: Apache-2.0
// The engine's list of matrices agrees, for every layer, with the neutral spec's own check and with the file's
// contents.
#include "model/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
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
      if (layer.feed_forward.in.gate) linears.push_back(&*layer.feed_forward.in.gate);
      linears.insert(linears.end(), {&layer.feed_forward.in, &layer.feed_forward.out});
    }
  }
  return linears;
}

// Returns name and shape of each matrix of the layers as validate_spec prints them when the matrix is missing.
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

// "query_key_value" -> query, key, value: the spec keeps them apart.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream words(name);
  for (std::string word; std::getline(words, word, '_');) parts.push_back(word);
  return parts;
}

// Compares one layer's list with `expected` and removes its entries there.
void compare_layer(const std::string& layer, const LayerKind& kind, const BlockWidths& widths,
                   std::map<std::string, Shape>& expected) {
  const auto compare = [&](const MatrixEntry& entry) {
    const std::string path = entry.name;  // layers.BLOCK.MATRIX
    const size_t block = path.find('.') + 1, matrix = path.rfind('.') + 1;
    const std::vector<std::string> parts = parts_of(path.substr(matrix));
    uint32_t rows = 0;
    for (const std::string& part : parts) {
      const auto found = expected.find(layer + "." + path.substr(block, matrix - block) + part);
      ASSERT_NE(found, expected.end()) << layer << " " << entry.name;
      rows += found->second[0];
      EXPECT_EQ(found->second[1], entry.k.in(widths)) << found->first;
      expected.erase(found);
    }
    EXPECT_EQ(rows, entry.n.in(widths)) << layer << " " << entry.name;
  };
  for_each_block([&](auto block) {
    if (block.belongs(kind)) std::for_each(std::begin(block.kMatrices), std::end(block.kMatrices), compare);
  });
}

TEST(Blocks, TheListIsWhatTheSpecsCheckExpects) {
  ModelSpec spec = test::random_spec(3);
  spec.decoder.layers.push_back(test::random_recurrent_spec(3).decoder.layers[1]);
  std::map<std::string, Shape> expected = expected_by_spec(spec);
  EXPECT_EQ(expected.size(), 6u + 2 * 10 + 8);
  for (const bool is_decoder : {false, true}) {
    const StackSpec& stack = is_decoder ? spec.decoder : spec.encoder;
    BlockWidths widths = {};  // as in a checkpoint
    const StackGroups groups = groups_of(stack, spec.encoder.d_model);
    for (uint32_t i = 0; i < kWidths; ++i) widths.values[i] = groups.values[i].count * groups.values[i].elements;
    for (size_t i = 0; i < stack.layers.size(); ++i) {
      const std::string layer = (is_decoder ? "decoder.layers." : "encoder.layers.") + std::to_string(i);
      compare_layer(layer, {is_decoder, stack.layers[i].recurrent.has_value(), kFeatureRecurrent}, widths, expected);
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
    const BlockWidths widths = widths_of(*stack, model.encoder->d_model);
    for_each_linear(*stack, [&](const MatrixEntry& entry, const format::LinearT& linear) {
      EXPECT_EQ(linear.n, entry.n.in(widths)) << entry.name;
      EXPECT_EQ(linear.k, entry.k.in(widths)) << entry.name;
      ++n;
    });
  }
  EXPECT_EQ(n, 4u + 2 * 7 + 6);
}

// A dimension as model.fbs writes it, in the order of Width.
std::string text_of(const Dimension& dimension) {
  const char* const names[] = {
      "d_model", "n_heads * d_head", "d_ff", "d_ff or 2 * d_ff padded", "the encoder's d_model", "d_model padded"};
  static_assert(std::size(names) == kWidths);
  const std::string times = dimension.times == 1 ? "" : std::to_string(dimension.times) + " * ";
  return times + names[static_cast<int>(dimension.width)];
}

TEST(Blocks, TheSchemasCommentsSayTheShapes) {
  std::ifstream file(GOLDCREST_SOURCE_DIR "/engine/schema/model.fbs");
  const std::string schema((std::istreambuf_iterator<char>(file)), {});
  for_each_block([&](auto block) {
    const size_t layer = schema.find("\ntable Layer ");
    std::string table = std::string("\n  ") + block.kName + ":";
    const size_t type = schema.find(table, layer) + table.size();
    table = "\ntable " + schema.substr(type, schema.find_first_of("; ", type) - type) + " {";
    const size_t begin = schema.find(table);
    ASSERT_NE(begin, std::string::npos) << table;
    const std::string fields = schema.substr(begin, schema.find('}', begin) - begin);
    for (const MatrixEntry& entry : block.kMatrices) {
      const size_t field = fields.find("\n  " + std::string(std::strrchr(entry.name, '.') + 1) + ":Linear;");
      ASSERT_NE(field, std::string::npos) << entry.name;
      const std::string line = fields.substr(field + 1, fields.find('\n', field + 1) - field - 1);
      const std::string shape = "// n = " + text_of(entry.n) + ", k = " + text_of(entry.k);
      const size_t found = line.find(shape);
      ASSERT_NE(found, std::string::npos) << line << "; expected " << shape;
      EXPECT_NE(std::string(":\n").find((line + "\n")[found + shape.size()]), std::string::npos) << line;
    }
  });
}

}  // namespace
}  // namespace goldcrest::converter
