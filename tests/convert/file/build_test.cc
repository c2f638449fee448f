// SPDX-License-Identifier: Apache-2.0
// Equal tables are stored once, the report gets every tensor, and the hash of the weights does not depend on the
// layout.
#include "file/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/align.h"
#include "base/hash.h"
#include "convert/support/section_bytes.h"
#include "model_generated.h"
#include "quantize/pack.h"
#include "spec/error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

// Both embeddings and the projection are one table.
ModelSpec tied_spec() {
  ModelSpec spec = test::random_spec(3);
  test::RandomFloats random(4);
  spec.encoder.d_model = spec.decoder.d_model = 24;
  const auto shared = std::make_shared<Matrix>(random.matrix("shared", 37, 24));
  spec.encoder.layers.clear();
  spec.decoder.layers.clear();
  fill_stack(random, {"encoder", 37, 1, 0}, spec.encoder);
  fill_stack(random, {"decoder", 37, 1, 24}, spec.decoder);
  spec.encoder.final_norm.reset();
  spec.decoder.positions = spec.encoder.positions;
  spec.encoder.embedding = spec.decoder.embedding = spec.projection.weight = shared;
  return spec;
}

std::vector<uint8_t> section(const Payload& payload, format::SectionKind kind) {
  return test::section_bytes(payload.sections[static_cast<size_t>(kind)]);
}

TEST(Build, TiedTablesAreStoredOnceInTheProjectionsLayout) {
  const ModelSpec spec = tied_spec();
  BuildOptions options;
  options.layout = Layout::kN4K16;
  const Payload payload = build_payload(spec, options);
  const format::LinearT& projection = *payload.metadata->projection;
  EXPECT_EQ(projection.layout, format::Layout::N4K16);
  for (const format::StackT* stack : {payload.metadata->encoder.get(), payload.metadata->decoder.get()}) {
    EXPECT_EQ(stack->embedding->weights, projection.weights);
    EXPECT_EQ(stack->embedding->scale, projection.scale);
    EXPECT_EQ(stack->embedding->layout, format::Layout::N4K16);
  }
  const auto is_shared = [](const TensorRecord& tensor) { return tensor.name == "shared"; };
  EXPECT_EQ(std::count_if(payload.tensors.begin(), payload.tensors.end(), is_shared), 1);

  ModelSpec untied = spec;
  untied.projection.weight = std::make_shared<Matrix>(*spec.projection.weight);
  const Payload larger = build_payload(untied, options);
  EXPECT_EQ(section(larger, format::SectionKind::Weights).size(),
            section(payload, format::SectionKind::Weights).size() + 48 * 32);
  EXPECT_EQ(larger.metadata->encoder->embedding->layout, format::Layout::RowMajor);
  EXPECT_EQ(larger.metadata->encoder->embedding->weights, larger.metadata->decoder->embedding->weights);
  EXPECT_NE(larger.metadata->projection->weights, larger.metadata->decoder->embedding->weights);
}

TEST(Build, EqualPositionsAreStoredOnce) {
  ModelSpec spec = tied_spec();
  const Payload payload = build_payload(spec, {});
  EXPECT_EQ(payload.metadata->encoder->positions, payload.metadata->decoder->positions);
  EXPECT_EQ(section(payload, format::SectionKind::Positions).size(), 11u * 32 * sizeof(float));
  spec.decoder.positions.values.edit().back() += 1;
  const Payload larger = build_payload(spec, {});
  EXPECT_NE(larger.metadata->encoder->positions, larger.metadata->decoder->positions);
  EXPECT_EQ(section(larger, format::SectionKind::Positions).size(), 2u * 11 * 32 * sizeof(float));
}

void expect_every_byte_recorded(const Payload& payload) {
  uint64_t recorded = 0, stored = 0;
  std::set<std::string> groups;
  for (const TensorRecord& tensor : payload.tensors) {
    recorded += tensor.bytes;
    groups.insert(tensor.group);
    EXPECT_FALSE(tensor.name.empty());
    if (tensor.sqnr_db) {
      EXPECT_GT(*tensor.sqnr_db, 35) << tensor.name;
    }
  }
  for (const SectionBytes& bytes : payload.sections) stored += bytes.size();
  // All arrays are multiples of 64 bytes. An odd multiple of 16 rows of 4 bytes is one, too.
  EXPECT_EQ(recorded, stored);
  const std::set<std::string> expected = {"encoder",          "encoder.layers.0", "decoder",
                                          "decoder.layers.0", "decoder.layers.1", "projection"};
  EXPECT_EQ(groups, expected);
}

TEST(Build, RecordsAccountForEveryByteButAlignment) {
  BuildOptions options;
  expect_every_byte_recorded(build_payload(test::random_spec(3), options));
  options.weights = Weights::kFloat32;
  const Payload payload = build_payload(test::random_spec(3), options);
  expect_every_byte_recorded(payload);
  for (const TensorRecord& tensor : payload.tensors) EXPECT_FALSE(tensor.sqnr_db) << tensor.name;
}

// Computes the hash of FORMAT.md, section 8, from the metadata.
uint64_t hash_from_file(const Payload& payload) {
  struct Stored {
    uint32_t rows, columns;
    format::Layout layout;
  };
  std::map<uint32_t, Stored> matrices;  // key: the offset
  const auto add_linear = [&](const format::LinearT& linear) {
    matrices[linear.weights] = {pad16(linear.n), pad16(linear.k), linear.layout};
  };
  for (const format::StackT* stack : {payload.metadata->encoder.get(), payload.metadata->decoder.get()}) {
    const format::EmbeddingT& embedding = *stack->embedding;
    matrices[embedding.weights] = {pad16(embedding.vocab_size), pad16(embedding.d_model), embedding.layout};
    for (const auto& layer : stack->layers) {
      if (layer->recurrent) add_linear(*layer->recurrent->input_forget);
      if (layer->self_attention) {
        add_linear(*layer->self_attention->query_key_value);
        add_linear(*layer->self_attention->out);
      }
      if (layer->cross_attention) {
        add_linear(*layer->cross_attention->query);
        add_linear(*layer->cross_attention->key_value);
        add_linear(*layer->cross_attention->out);
      }
      add_linear(*layer->feed_forward->in);
      add_linear(*layer->feed_forward->out);
    }
  }
  add_linear(*payload.metadata->projection);
  const std::vector<uint8_t> bytes = section(payload, format::SectionKind::Weights);
  const auto* weights = reinterpret_cast<const int8_t*>(bytes.data());
  uint64_t hash = kHashStart;
  for (const auto& [offset, stored] : matrices) {
    const size_t size = size_t{stored.rows} * stored.columns;
    const std::vector<int8_t> unpacked =
        unpack({weights + offset * kAlignment, size}, stored.rows, stored.columns, static_cast<Layout>(stored.layout));
    hash = hash_int8(hash, unpacked.data(), size);
  }
  return hash;
}

uint64_t stated_hash(const Payload& payload) {
  return (uint64_t{payload.metadata->weights_hash_high} << 32) | payload.metadata->weights_hash_low;
}

TEST(Build, HashOfTheWeightsIsTheFormatsInEveryLayout) {
  for (const ModelSpec& spec : {test::random_spec(3), tied_spec()}) {
    BuildOptions options;
    const Payload first = build_payload(spec, options);
    options.layout = Layout::kN4K16;
    const Payload second = build_payload(spec, options);
    EXPECT_EQ(stated_hash(first), hash_from_file(first));
    EXPECT_EQ(stated_hash(second), hash_from_file(second));
    EXPECT_EQ(stated_hash(first), stated_hash(second));
    EXPECT_NE(section(first, format::SectionKind::Weights), section(second, format::SectionKind::Weights));
  }
  EXPECT_NE(stated_hash(build_payload(test::random_spec(3), {})), stated_hash(build_payload(test::random_spec(4), {})));
}

TEST(Build, BadValuesAreNamedByTensor) {
  struct Case {
    const char* words;
    void (*breaks)(ModelSpec&);
  };
  const Case cases[] = {
      {"tensor 'encoder.layers.0.in': element [32, 19] is nan",
       [](ModelSpec& s) {
         auto bad = std::make_shared<Matrix>(*s.encoder.layers[0].feed_forward.in.weight);
         bad->values.edit().back() = NAN;
         s.encoder.layers[0].feed_forward.in.weight = bad;
       }},
      {"bias of tensor 'decoder.layers.1.out': element 3 is 70000",
       [](ModelSpec& s) { s.decoder.layers[1].feed_forward.out.bias[3] = 70000; }},
      {"encoder.final_norm.gamma: element 0 is inf", [](ModelSpec& s) { s.encoder.final_norm->gamma[0] = INFINITY; }},
      {"decoder.positions: position 10: element 23 is nan",
       [](ModelSpec& s) { s.decoder.positions.values.edit().back() = NAN; }},
      {"bias of tensor 'projection': element 36 is -inf", [](ModelSpec& s) { s.projection.bias[36] = -INFINITY; }},
  };
  for (const Case& c : cases) {
    ModelSpec spec = test::random_spec(3);
    c.breaks(spec);
    try {
      build_payload(spec, {});
      ADD_FAILURE() << "accepted: " << c.words;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(c.words), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
