// SPDX-License-Identifier: Apache-2.0
// Equal tables are stored once, the report gets every tensor, and the hash of the weights does not depend on the
// layout.
#include "file/build.h"
#include "base/align.h"
#include "base/build_options.h"
#include "base/hash.h"
#include "convert/support/section_bytes.h"
#include "file/metadata.h"
#include "model_generated.h"
#include "quantize/quantize.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
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
  BuildOptions options = {.layout = Layout::kN4K16};
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
  const std::set<std::string> expected = {
      "encoder", "encoder.layers.0", "decoder", "decoder.layers.0", "decoder.layers.1", "projection"};
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
    const std::string message = test::error_of([&] { build_payload(spec, {}); });
    EXPECT_EQ(message.find(c.words), 0u) << message;
  }
}

// Defaults and bounds of the limits, and the file's entries about the search and its origin.

TEST(ResolveLimits, ZerosBecomeTheDocumentedDefaults) {
  ModelSpec spec = test::random_spec(1);
  spec.generation.beam_size = 6;
  goldcrest_limits limits = resolve_limits(spec, {});
  EXPECT_EQ(limits.max_source_tokens, 11u);
  EXPECT_EQ(limits.max_source_bytes, 0u);
  EXPECT_EQ(limits.max_target_tokens, 7u);
  EXPECT_EQ(limits.beam_size, 6u);
  EXPECT_EQ(limits.batch, 1u);
  EXPECT_EQ(limits.n_best, 1u);
  EXPECT_EQ(limits.encoder_rows, 11u);

  spec.source_tokenizer.emplace();
  spec.generation.max_target_tokens = 0;
  limits = resolve_limits(spec, {});
  EXPECT_EQ(limits.max_source_bytes, 88u);
  EXPECT_EQ(limits.max_target_tokens, 11u);
}

TEST(ResolveLimits, OutOfRangeIsNamed) {
  const ModelSpec spec = test::random_spec(1);
  struct Case {
    uint32_t goldcrest_limits::*limit;
    uint32_t value;
    const char* message;
  };
  const Case cases[] = {
      {&goldcrest_limits::max_source_tokens, 12, "--max-source is 12; expected 1 to 11, the encoder's positions"},
      {&goldcrest_limits::max_target_tokens, 12, "--max-target is 12; expected 1 to 11, the decoder's positions"},
      {&goldcrest_limits::max_source_bytes, 5,
          "--max-source-bytes is 5, but the checkpoint has no tokenizer; leave it out"},
      {&goldcrest_limits::beam_size, 17, "--beam-size is 17; expected 1 to 16, the engine's bound"},
      {&goldcrest_limits::batch, 257, "--batch is 257; expected 1 to 256, the engine's bound"},
      {&goldcrest_limits::n_best, 2, "--n-best is 2; expected 1 to 1, the beam size"},
      {&goldcrest_limits::encoder_rows, 1025, "--encoder-rows is 1025; expected 1 to 1024, the engine's bound"},
  };
  for (const Case& c : cases) {
    goldcrest_limits limits = {};
    limits.*c.limit = c.value;
    EXPECT_EQ(test::error_of([&] { resolve_limits(spec, limits); }), c.message);
  }
}

TEST(MakeGeneration, StaysWithinTheLimits) {
  GenerationSpec spec = {.unknown_id = 3, .beam_size = 8, .min_target_tokens = 50, .max_target_tokens = 100};
  const auto generation = make_generation(spec, {.max_target_tokens = 20, .beam_size = 4});
  EXPECT_EQ(generation->beam_size, 4u);
  EXPECT_EQ(generation->max_target_tokens, 20u);
  EXPECT_EQ(generation->min_target_tokens, 20u);
  EXPECT_EQ(generation->unknown_id, 3);
  EXPECT_EQ(generation->pad_id, -1);
  EXPECT_EQ(generation->forced_first_id, -1);
}

// The model's prompt and its limit of prefixes are in the file, with their bit. Without them the bit is not.
TEST(MakeGeneration, Prompts) {
  ModelSpec spec = test::random_spec(1);
  EXPECT_EQ(build_payload(spec, {}).metadata->features & kFeaturePrompt, 0u);
  spec.generation.prompt = {{1, 2}, {3}, {4, 5}};
  spec.generation.max_prefix_tokens = 1000;
  const Payload payload = build_payload(spec, {});
  EXPECT_EQ(payload.metadata->features & kFeaturePrompt, kFeaturePrompt);
  EXPECT_EQ(payload.metadata->generation->first_choices, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(payload.metadata->generation->forced_ids, std::vector<uint32_t>{3});
  EXPECT_EQ(payload.metadata->generation->first_suppressed_ids, (std::vector<uint32_t>{4, 5}));
  const uint32_t most = payload.metadata->limits->max_target_tokens;
  EXPECT_EQ(payload.metadata->limits->max_prefix_tokens, most - 1);

  BuildOptions options = {.limits = {.max_prefix_tokens = 2}};
  EXPECT_EQ(build_payload(test::random_spec(1), options).metadata->features & kFeaturePrompt, kFeaturePrompt);
  const auto message = [&](uint32_t target, uint32_t prefix) -> std::string {
    options.limits.max_target_tokens = target;
    options.limits.max_prefix_tokens = prefix;
    return test::error_of([&] { build_payload(spec, options); });
  };
  EXPECT_EQ(message(2, 0), "--max-target is 2; expected more than the 2 ids of the model's prompt");
  EXPECT_EQ(message(3, 2), "no error");
  EXPECT_EQ(message(3, 3), "--max-prefix is 3; expected 1 to 2, one less than the target tokens");
  spec.generation.prompt = {{2, 1}, {}, {}};
  EXPECT_EQ(message(0, 0), "generation: the first choices do not ascend; expected each id once, the lowest first");
  spec.generation.prompt = {{}, {spec.generation.end_id}, {}};
  EXPECT_EQ(
      message(0, 0), "generation: the prompt has id " + std::to_string(spec.generation.end_id) + ", which ends a text");
  spec.generation.prompt = {{}, {1}, {}};
  spec.generation.forced_first_id = 2;
  EXPECT_EQ(message(0, 0), "generation: a forced first id and a prompt; expected only one of them");
}

TEST(MakeProvenance, OptionsReplaceTheCheckpoints) {
  const ModelSpec spec = test::random_spec(1);
  EXPECT_EQ(make_provenance(spec, {}, {})->license, "CC0-1.0");
  const auto replaced = make_provenance(spec, "MIT", "somebody");
  EXPECT_EQ(replaced->license, "MIT");
  EXPECT_EQ(replaced->attribution, "somebody");
  EXPECT_EQ(replaced->converter_version, GOLDCREST_VERSION);
}

// Compares layouts with FORMAT.md's formulas, and unpacks them.

// FORMAT.md, section 5.
size_t byte_of(Layout layout, size_t n, size_t k, size_t columns) {
  switch (layout) {
    case Layout::kN16K4: return ((n / 16) * (columns / 4) + k / 4) * 64 + (n % 16) * 4 + k % 4;
    case Layout::kN4K16: return ((n / 4) * (columns / 16) + k / 16) * 64 + (n % 4) * 16 + k % 16;
    default: return n * columns + k;
  }
}

TEST(Pack, EveryElementIsWhereTheFormatSaysAndComesBack) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {16u, 32u, 80u}) {
      for (const uint32_t columns : {16u, 48u, 112u}) {
        std::vector<int8_t> weights(size_t{rows} * columns);
        uint32_t state = rows * 31 + columns;
        for (int8_t& weight : weights) {
          state = state * 1664525u + 1013904223u;
          weight = static_cast<int8_t>(state >> 24);
        }
        const std::vector<int8_t> packed = pack(weights, rows, columns, layout);
        ASSERT_EQ(packed.size(), weights.size());
        for (size_t n = 0; n < rows; ++n)
          for (size_t k = 0; k < columns; ++k)
            ASSERT_EQ(packed[byte_of(layout, n, k, columns)], weights[n * columns + k]) << n << ", " << k;
        EXPECT_EQ(unpack(packed, rows, columns, layout), weights);
      }
    }
  }
}

TEST(Pack, UnknownLayoutIsRefused) {
  const std::vector<int8_t> weights(256);
  EXPECT_THROW(pack(weights, 16, 16, static_cast<Layout>(3)), Error);
}

TEST(LayoutForCpu, KnownNames) {
  for (const char* name : {"generic", "x86", "cortex-a53", "cortex-a76", "cortex-m4", "cortex-m7", "cortex-m33"})
    EXPECT_EQ(layout_for_cpu(name), Layout::kN16K4) << name;
  for (const char* name : {"cortex-m55", "cortex-m85"}) EXPECT_EQ(layout_for_cpu(name), Layout::kN4K16) << name;
}

TEST(LayoutForCpu, UnknownNamesGetTheList) {
  for (const char* name : {"", "cortex-a", "cortex-m5", "Cortex-M55", "cortex-m551"}) {
    test::expect_error(
        [&] { layout_for_cpu(name); }, {"'" + std::string(name) + "'", "cortex-m55 or cortex-m85"}, name);
  }
}
}}  // namespace goldcrest::converter
