// SPDX-License-Identifier: Apache-2.0
// Wrong metadata with right checksums: the engine refuses each wrong value by name, and no value of any field makes it
// misbehave.
#include "base/bounds.h"
#include "base/build_options.h"
#include "hostile_file.h"
#include "model/blocks.h"
#include "support/engine_fixture.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
void expect_smallest_refused(const std::vector<Lie>& lies) { expect_refused(smallest_file(), lies); }

TEST(Hostile, MissingTables) {
  expect_smallest_refused({
      {"encoder: dimensions", [](ModelT& m) { m.encoder.reset(); }},
      {"decoder: dimensions", [](ModelT& m) { m.decoder.reset(); }},
      {"projection", [](ModelT& m) { m.projection.reset(); }},
      {"generation: missing", [](ModelT& m) { m.generation.reset(); }},
      {"limits: missing", [](ModelT& m) { m.limits.reset(); }},
      {"sections: four are needed", [](ModelT& m) { m.sections.pop_back(); }},
      {"sections: four are needed", [](ModelT& m) { m.sections.clear(); }},
      {"encoder.embedding", [](ModelT& m) { m.encoder->embedding.reset(); }},
      {"decoder.embedding", [](ModelT& m) { m.decoder->embedding.reset(); }},
      {"encoder: dimensions", [](ModelT& m) { m.encoder->layers.clear(); }},
      {"layers.self_attention: missing", [](ModelT& m) { m.encoder->layers[0]->self_attention.reset(); }},
      {"layers.feed_forward: missing", [](ModelT& m) { m.encoder->layers[0]->feed_forward.reset(); }},
      {"layers.cross_attention: missing", [](ModelT& m) { m.decoder->layers[0]->cross_attention.reset(); }},
      {"layers.self_attention.norm", [](ModelT& m) { m.decoder->layers[0]->self_attention->norm.reset(); }},
      {"layers.feed_forward.in", [](ModelT& m) { m.decoder->layers[0]->feed_forward->in.reset(); }},
      {"layers.cross_attention.key_value", [](ModelT& m) { m.decoder->layers[0]->cross_attention->key_value.reset(); }},
  });
}

TEST(Hostile, OptionalTablesMayBeMissing) {
  for (const Mutation& tell :
      std::vector<Mutation>{[](ModelT& m) { m.tokenizer.reset(), m.limits->max_source_bytes = 0; },
          [](ModelT& m) { m.detokenizer.reset(); }, [](ModelT& m) { m.provenance.reset(); },
          [](ModelT& m) { m.encoder->final_norm.reset(); }, [](ModelT& m) { m.decoder->embedding_norm.reset(); },
          [](ModelT& m) { m.self_test.clear(); }}) {
    expect_runs(remade(smallest_file(), tell));
  }
}

TEST(Hostile, IdsAndEnumerationsOutOfRange) {
  expect_smallest_refused({
      {"generation.decoder_start_id", [](ModelT& m) { m.generation->decoder_start_id = 7; }},
      {"generation.end_id", [](ModelT& m) { m.generation->end_id = UINT32_MAX; }},
      {"generation.pad_id", [](ModelT& m) { m.generation->pad_id = 7; }},
      {"generation.pad_id", [](ModelT& m) { m.generation->pad_id = -2; }},
      {"generation.unknown_id", [](ModelT& m) { m.generation->unknown_id = INT32_MIN; }},
      {"generation.forced_first_id", [](ModelT& m) { m.generation->forced_first_id = INT32_MAX; }},
      {"generation.suppressed_ids",
          [](ModelT& m) {
            m.generation->suppressed_ids = {1, 7};
          }},
      {"generation.suppressed_ids", [](ModelT& m) { m.generation->suppressed_ids.assign(kMaxPositions + 1, 0); }},
      {"generation.source_prefix", [](ModelT& m) { m.generation->source_prefix = {6}; }},
      {"generation.source_suffix",
          [](ModelT& m) {
            m.generation->source_suffix = {0, 0x80000000u};
          }},
      {"self_test.source", [](ModelT& m) { m.self_test[1]->source = {6}; }},
      {"self_test.target", [](ModelT& m) { m.self_test[0]->target = {7}; }},
      {"tokenizer.kind", [](ModelT& m) { m.tokenizer->kind = static_cast<format::TokenizerKind>(4); }},
      {"detokenizer: vocabulary", [](ModelT& m) { m.detokenizer->kind = static_cast<format::TokenizerKind>(255); }},
      {"encoder: dimensions", [](ModelT& m) { m.encoder->activation = static_cast<format::Activation>(4); }},
      {"encoder.embedding", [](ModelT& m) { m.encoder->embedding->layout = static_cast<format::Layout>(3); }},
      {"projection", [](ModelT& m) { m.projection->layout = format::Layout::RowMajor; }},
      {"projection", [](ModelT& m) { m.projection->layout = static_cast<format::Layout>(77); }},
      {"sections: kind", [](ModelT& m) { m.sections[2]->kind = static_cast<format::SectionKind>(4); }},
  });
}

TEST(Hostile, RealNumbersOutOfRange) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinity, -infinity, -1.0f, 1e-30f, 1e30f}) {
    expect_smallest_refused({
        {"encoder: dimensions", [&](ModelT& m) { m.encoder->attention_scale = bad; }},
        {"decoder: dimensions", [&](ModelT& m) { m.decoder->embedding_scale = bad; }},
        {"layers.feed_forward.norm", [&](ModelT& m) { m.decoder->layers[0]->feed_forward->norm->epsilon = bad; }},
    });
  }
  for (const float bad : {nan, infinity, -infinity, 4.5f, -2.5f})
    expect_smallest_refused({{"generation.length_penalty", [&](ModelT& m) { m.generation->length_penalty = bad; }}});
  for (const float bad : {nan, infinity, -infinity, 1025.0f})
    expect_smallest_refused({{"generation.word_penalty", [&](ModelT& m) { m.generation->word_penalty = bad; }}});
  for (const float bad : {nan, infinity, -infinity})
    expect_smallest_refused({{"tokenizer.unknown_score", [&](ModelT& m) { m.tokenizer->max_score = bad; }}});
}

// Puts a value into a section and repairs the checksum.
Verdict with_value(format::SectionKind kind, uint32_t units, uint32_t element, uint32_t bits) {
  FileImage file = smallest_file();
  for (const format::Section* section : *format::GetModel(file.bytes())->sections()) {
    if (section->kind() != kind) continue;
    std::memcpy(file.bytes() + (uint64_t{section->offset()} + units) * 64 + 4 * element, &bits, sizeof bits);
  }
  repair_checksums(file);
  return try_file(file);
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(Hostile, ScalesBiasesAndPositions) {
  const format::Model& model = *format::GetModel(smallest_file().bytes());
  const format::Linear& linear = *model.decoder()->layers()->Get(0)->feed_forward()->in();
  const auto parameters = format::SectionKind::Parameters;
  const float too_large = std::nextafter(std::ldexp(1.0f, 16), 1e30f);
  for (const float bad :
      {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.01f, 1e-45f, std::nextafter(std::ldexp(1.0f, -47), 0.0f), too_large}) {
    for (const uint32_t row : {0u, 4u, 15u})  // 15 is padding
      EXPECT_EQ(with_value(parameters, linear.scale(), row, bits_of(bad)).detail, "layers.feed_forward.in") << bad;
    EXPECT_EQ(
        with_value(parameters, model.encoder()->embedding()->scale(), 2, bits_of(bad)).detail, "encoder.embedding");
  }
  for (const float bad : {NAN, INFINITY, -INFINITY, 1e-45f, -1e-30f, too_large, -0.0f}) {
    EXPECT_EQ(with_value(parameters, linear.bias(), 1, bits_of(bad)).detail, "layers.feed_forward.in") << bad;
    EXPECT_EQ(with_value(parameters, model.decoder()->final_norm()->gamma(), 0, bits_of(bad)).detail, "final_norm");
    EXPECT_EQ(with_value(format::SectionKind::Positions, model.encoder()->positions(), 5, bits_of(bad)).detail,
        "encoder.positions");
  }
  EXPECT_EQ(with_value(parameters, linear.scale(), 0, bits_of(std::ldexp(1.0f, -47))).status, GOLDCREST_OK);
  EXPECT_EQ(with_value(parameters, linear.scale(), 0, bits_of(std::ldexp(1.0f, 16))).status, GOLDCREST_OK);
  EXPECT_EQ(with_value(parameters, linear.weight_sum(), 0, 1u << 20).detail, "layers.feed_forward.in") << "a wrong sum";
  EXPECT_EQ(with_value(format::SectionKind::Weights, linear.weights(), 0, 0x80u).detail, "layers.feed_forward.in")
      << "-128";
}

// The scales and biases at the ends of what a file may have. The remainders of fine inputs then are zeros, tiny or
// huge, with scales of any size. Each file runs, with the same results on every table.
TEST(Hostile, RemaindersOfEverySize) {
  const FileImage fine = fine_tiny_file(tiny_spec(odd_tiny_options()));
  const float smallest = std::ldexp(1.0f, -47), largest = std::ldexp(1.0f, 16);
  for (const auto& [scale, other_scale] : {std::pair{smallest, smallest}, {largest, largest}, {smallest, largest}}) {
    for (const float bias : {0.0f, largest, -largest}) {
      const FileImage file = remade_with_contents(fine, [&](ModelT& m, Contents& contents) {
        uint8_t* const parameters = contents[static_cast<size_t>(format::SectionKind::Parameters)].data();
        uint32_t n_values = 0;
        const auto set = [&](uint32_t units, uint32_t n, float value, float other) {
          for (uint32_t i = 0; i < n; ++i) {
            const float& chosen = ++n_values % 3 != 0 ? value : other;
            std::memcpy(parameters + size_t{units} * 64 + sizeof(float) * i, &chosen, sizeof chosen);
          }
        };
        const auto change = [&](const MatrixEntry&, format::LinearT& linear) {
          set(linear.scale, linear.n, scale, other_scale);
          set(linear.bias, linear.n, bias, 0.0f);
        };
        for_each_linear(*m.encoder, change);
        for_each_linear(*m.decoder, change);
        set(m.projection->scale, m.projection->n, scale, other_scale);
      });
      expect_runs(file);
      std::vector<Translation> found;
      for (uint32_t table = 0; goldcrest_kernels_at(table) != nullptr; ++table) {
        EngineSetup setup = {.kernels = goldcrest_kernels_at(table)};
        TestEngine engine(file.span(), setup);
        engine.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS; });
        found.push_back(engine.run({1, 2, 3}));
        EXPECT_EQ(found.back(), found[0]) << setup.kernels << ", scales " << scale << " and " << other_scale;
        EXPECT_TRUE(engine.memory_intact());
      }
    }
  }
}

// An embedding in the projection's layout need not be the projection; its values are still checked.
TEST(Hostile, ATiledEmbeddingOfItsOwn) {
  const format::Model& original = *format::GetModel(smallest_file().bytes());
  ASSERT_NE(original.decoder()->embedding()->weights(), original.projection()->weights());
  for (const bool of_decoder : {false, true}) {
    for (const format::Layout layout : {format::Layout::N16K4, format::Layout::N4K16}) {
      const auto stack_of = [&](ModelT& m) -> format::StackT& { return of_decoder ? *m.decoder : *m.encoder; };
      FileImage file = remade(smallest_file(), [&](ModelT& m) { stack_of(m).embedding->layout = layout; });
      EXPECT_EQ(try_file(file).status, GOLDCREST_OK);
      const format::Model& model = *format::GetModel(file.bytes());
      const uint64_t table = (of_decoder ? model.decoder() : model.encoder())->embedding()->weights();
      for (const size_t at : {size_t{0}, size_t{100}, size_t{255}}) {
        uint8_t* const weight = file.bytes() + (model.sections()->Get(0)->offset() + table) * 64 + at;
        const uint8_t was = *weight;
        *weight = 0x80;  // -128
        repair_checksums(file);
        const Verdict verdict = try_file(file);
        EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << at;
        EXPECT_EQ(verdict.detail, of_decoder ? "decoder.embedding" : "encoder.embedding") << at;
        *weight = was;
      }
    }
  }
}

// Every integer of the metadata that is a size, a count or a place.
std::vector<uint32_t*> integers(ModelT& m) {
  std::vector<uint32_t*> all;
  const auto add_linear = [&](format::LinearT& t) {
    for (uint32_t* field : {&t.n, &t.k, &t.weights, &t.scale, &t.bias, &t.weight_sum}) all.push_back(field);
  };
  const auto add_norm = [&](format::NormT& t) { all.push_back(&t.gamma), all.push_back(&t.beta); };
  for (format::StackT* stack : {m.encoder.get(), m.decoder.get()}) {
    for (uint32_t* field : {&stack->d_model, &stack->d_ff, &stack->n_heads, &stack->d_head, &stack->positions,
             &stack->max_positions, &stack->embedding->vocab_size, &stack->embedding->d_model,
             &stack->embedding->weights, &stack->embedding->scale})
      all.push_back(field);
    add_norm(*stack->embedding_norm);
    add_norm(*stack->final_norm);
    format::LayerT& layer = *stack->layers[0];
    add_linear(*layer.self_attention->query_key_value);
    add_linear(*layer.self_attention->out);
    add_norm(*layer.self_attention->norm);
    add_linear(*layer.feed_forward->in);
    add_linear(*layer.feed_forward->out);
    if (layer.cross_attention == nullptr) continue;
    add_linear(*layer.cross_attention->query);
    add_linear(*layer.cross_attention->key_value);
    add_linear(*layer.cross_attention->out);
  }
  add_linear(*m.projection);
  format::TokenizerT& t = *m.tokenizer;
  for (uint32_t* field :
      {&t.vocab_size, &t.n_pieces, &t.trie, &t.trie_units, &t.score, &t.type, &t.byte_ids, &t.normalizer_trie,
          &t.normalizer_trie_units, &t.normalizer_text, &t.normalizer_text_bytes, &t.unknown_id, &t.max_piece_bytes})
    all.push_back(field);
  format::DetokenizerT& d = *m.detokenizer;
  for (uint32_t* field : {&d.n_pieces, &d.text_offset, &d.text, &d.text_bytes, &d.type}) all.push_back(field);
  format::GenerationT& g = *m.generation;
  for (uint32_t* field : {&g.decoder_start_id, &g.end_id, &g.beam_size, &g.min_target_tokens, &g.max_target_tokens})
    all.push_back(field);
  format::LimitsT& l = *m.limits;
  for (uint32_t* field : {&l.max_source_tokens, &l.max_source_bytes, &l.max_target_tokens, &l.beam_size, &l.batch,
           &l.n_best, &l.encoder_rows})
    all.push_back(field);
  return all;
}

const FileImage* const kFiles[] = {&smallest_file(), &smallest_float32_file()};

size_t count_integers() {
  ModelT metadata;
  format::GetModel(smallest_file().bytes())->UnPackTo(&metadata);
  return integers(metadata).size();
}

TEST(Hostile, EveryIntegerTakesEveryExtreme) {
  const uint32_t extremes[] = {0, 1, 2, 15, 16, 17, 255, 65535, 65536, 65537, 1u << 20, 1u << 24, (1u << 24) + 1,
      0x3fffffffu, 0x7fffffffu, 0x80000000u, 0xfffffff0u, UINT32_MAX};
  for (const FileImage* original : kFiles) {
    int refused = 0, accepted = 0;
    for (size_t field = 0; field < count_integers(); ++field) {
      for (const uint32_t value : extremes) {
        SCOPED_TRACE(testing::Message() << "integer " << field << " is " << value);
        const FileImage file = remade(*original, [&](ModelT& m) { *integers(m)[field] = value; });
        const int status = try_file(file).status;
        if (HasFailure()) return;
        (status < 0 ? refused : accepted) += 1;
        // If a field may have the largest number, it has no bound to check.
        const bool is_unused = value == UINT32_MAX && status == GOLDCREST_OK;
        if (is_unused) {
          ModelT metadata;
          format::GetModel(original->bytes())->UnPackTo(&metadata);
          const uint32_t* at = integers(metadata)[field];
          EXPECT_TRUE(at == &metadata.tokenizer->byte_ids || at == &metadata.generation->max_target_tokens);
        }
      }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(accepted, 100) << "small offsets are inside";
  }
}

// Two wrong values can agree with each other.
TEST(Hostile, PairsOfIntegers) {
  const uint32_t extremes[] = {0, 1, 16, 17, 65536, 0x04000000u, 0x80000000u, UINT32_MAX};
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<uint32_t>(count_integers());
    const uint32_t first = rng.below(n), second = rng.below(n), a = extremes[rng.below(8)], b = extremes[rng.below(8)];
    SCOPED_TRACE(testing::Message() << first << " is " << a << ", " << second << " is " << b);
    (void)try_file(remade(*kFiles[i % 2], [&](ModelT& m) {
      *integers(m)[first] = a;
      *integers(m)[second] = b;
    }));
    if (HasFailure()) return;
  }
}

TEST(Hostile, SectionsThatLeaveTheFileOrEachOther) {
  const auto refused = [](const Mutation& tell, const char* detail) {
    expect_corrupt(remade(smallest_file(), nullptr, tell), detail);
  };
  for (size_t i = 0; i < 4; ++i) {
    for (const uint32_t offset : {0u, 1u, 0x7fffffffu, UINT32_MAX})
      refused([&](ModelT& m) { m.sections[i]->offset = offset; }, "sections: extent");
    for (const uint64_t size : {uint64_t{1} << 31, uint64_t{UINT32_MAX}, uint64_t{1} << 63, UINT64_MAX})
      refused([&](ModelT& m) { m.sections[i]->size = size; }, "sections: extent");
    refused([&](ModelT& m) { m.sections[i]->crc32c ^= 1; }, "sections: checksum");
  }
  refused([](ModelT& m) { std::swap(m.sections[0]->kind, m.sections[1]->kind); }, "sections: kind");
  refused([](ModelT& m) { m.sections[0]->kind = m.sections[1]->kind; }, "sections: kind");
}

TEST(Hostile, VersionsAndFeatures) {
  Verdict verdict;
  for (const uint32_t features : {65536u, 65537u, UINT32_MAX}) {
    verdict = try_file(remade(smallest_file(), [&](ModelT& m) { m.features = features; }));
    EXPECT_EQ(verdict.status, GOLDCREST_ERROR_UNSUPPORTED) << features;
    EXPECT_EQ(verdict.detail, "metadata: feature bits");
  }
  for (uint32_t bit = 1; bit < 32; ++bit) {
    // These bits have tests of their own: choices_test.cc, features_test.cc, recurrent_test.cc,
    // shortlist_test.cc, speech_test.cc.
    constexpr uint32_t kTested = kFeatureRmsNorm | kFeatureGated | kFeatureAttentionBias | kFeatureRotary |
                                 kFeatureRecurrent | kFeatureFrontend | kFeatureLogMel | kFeaturePrompt |
                                 kFeatureShortlist | kFeatureRefined | kFeatureRules | kFeatureSubword |
                                 kFeatureAddedTokens | kFeatureLanguages | kFeatureSequences | kFeatureLexicon |
                                 kFeatureRefinedWeights | kFeatureFineAttention | kFeatureVoice |
                                 kFeatureIntegerAttention | kFeatureTimestamps | kFeaturePacked | kFeatureImage;
    if ((1u << bit & kTested) != 0) continue;
    for (const FileImage* file : kFiles) {
      for (const uint32_t features : {1u << bit, 1u << bit | 1u}) {
        verdict = try_file(remade(*file, [&](ModelT& m) { m.features = features; }));
        EXPECT_EQ(verdict.status, GOLDCREST_ERROR_UNSUPPORTED) << features;
        EXPECT_EQ(verdict.detail, "metadata: feature bits") << features;
      }
    }
  }
  verdict = try_file(remade(smallest_file(), [](ModelT& m) { m.format_version = 2; }));
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_EQ(verdict.detail, "metadata: format version");
}
}}  // namespace goldcrest::test
