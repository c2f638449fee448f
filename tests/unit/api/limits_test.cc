// SPDX-License-Identifier: Apache-2.0
// The last value that each limit and each setting of the search takes, and the first that it refuses.
#include "api/engine.h"
#include "inspected.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// 40 source and 30 target positions, two decoder layers, a tokenizer.
const FileImage& some_file() {
  static const FileImage file = [] {
    ModelSpec spec = tiny_spec(deep_tiny_options());
    add_tokenizers(converter::TokenizerKind::kBpe, spec);
    return tiny_file(spec);
  }();
  return file;
}

// Returns the message, or nothing if the limits are taken.
std::string planned(const goldcrest_limits& limits, const FileImage& file = some_file()) {
  goldcrest_memory memory;
  goldcrest_detail detail = {};
  const int status = goldcrest_plan_memory(file.bytes(), file.size(), &limits, &memory, nullptr, nullptr, &detail);
  EXPECT_TRUE(status == GOLDCREST_OK || status == GOLDCREST_ERROR_ARGUMENT) << status;
  if (status == GOLDCREST_OK) return "";
  EXPECT_EQ(detail.index, -1) << detail.message;
  return detail.message;
}

TEST(Limits, LastAndFirstValues) {
  struct Limit {
    uint32_t goldcrest_limits::*field;
    uint32_t last;
    const char* message;
  };
  const Limit limits[] = {
      {&goldcrest_limits::max_source_tokens, 40, "limits.max_source_tokens: more than the model's positions"},
      {&goldcrest_limits::max_target_tokens, 30, "limits.max_target_tokens: more than the model's positions"},
      {&goldcrest_limits::max_source_bytes, 1u << 24, "limits.max_source_bytes: above 16 MiB"},
      {&goldcrest_limits::beam_size, 16, "limits.beam_size: above 16"},
      {&goldcrest_limits::batch, 256, "limits.batch: above 256"},
      {&goldcrest_limits::n_best, 3, "limits.n_best: above beam_size"},
      {&goldcrest_limits::encoder_rows, 1024, "limits.encoder_rows: above 1024"},
      {&goldcrest_limits::threads, 64, "limits.threads: above 64"},
      {&goldcrest_limits::inspection, 3, "limits.inspection: unknown bits"},
      {&goldcrest_limits::max_prefix_tokens, 29, "limits.max_prefix_tokens: not below max_target_tokens"},
      {&goldcrest_limits::max_sampled, 256, "limits.max_sampled: above 256"},
      {&goldcrest_limits::alignment_layers, 3, "limits.alignment_layers: a layer that the decoder lacks"},
  };
  for (const Limit& limit : limits) {
    goldcrest_limits wanted = {.beam_size = 3};
    wanted.*limit.field = limit.last;
    EXPECT_EQ(planned(wanted), "") << limit.message;
    wanted.*limit.field = limit.last + 1;
    EXPECT_EQ(planned(wanted), limit.message);
  }
  EXPECT_EQ(planned({.alignment_layers = GOLDCREST_ALL_LAYERS}), "");
}

TEST(Limits, TextNeedsATokenizer) {
  const FileImage file = tiny_file(tiny_spec(deep_tiny_options()));
  goldcrest_limits limits = {.max_source_bytes = 1};
  goldcrest_memory memory;
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_plan_memory(file.bytes(), file.size(), &limits, &memory, nullptr, nullptr, &detail),
      GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(detail.message, "limits.max_source_bytes: the model has no tokenizer");
  EXPECT_EQ(detail.index, -1);
}

// With 32 layers each bit stands for a layer.
TEST(Limits, AlignmentOfAsManyLayersAsBits) {
  const FileImage file = tiny_file(tiny_spec({.decoder = {.n_layers = 32}}));
  for (const uint32_t layers : {1u, 1u << 31, 0x7FFFFFFFu, GOLDCREST_ALL_LAYERS}) {
    EXPECT_EQ(planned({.alignment_layers = layers}, file), "") << layers;
  }
}

class Search : public testing::Test {
 protected:
  Search() : engine_(some_file().span(), setup()) {}

  static EngineSetup setup() { return {.limits = {.max_target_tokens = 20, .beam_size = 4}}; }

  // Returns the message, or nothing if the search is taken.
  std::string set(const std::function<void(goldcrest_search&)>& change) {
    goldcrest_search search = {.length_penalty = 1};
    change(search);
    const int status = goldcrest_set_search(engine_.get(), &search);
    EXPECT_TRUE(status == GOLDCREST_OK || status == GOLDCREST_ERROR_ARGUMENT) << status;
    if (status == GOLDCREST_OK) return "";
    EXPECT_EQ(engine_.detail().index, -1) << engine_.detail().message;
    return engine_.detail().message;
  }

  template <typename Value>
  void expect_bounds(Value goldcrest_search::*field, const std::vector<Value>& good, const std::vector<Value>& bad,
      const char* message) {
    for (const Value value : good)
      EXPECT_EQ(set([&](goldcrest_search& search) { search.*field = value; }), "") << message << ": " << +value;
    for (const Value value : bad)
      EXPECT_EQ(set([&](goldcrest_search& search) { search.*field = value; }), message) << +value;
  }

  TestEngine engine_;
};

TEST_F(Search, Numbers) {
  using S = goldcrest_search;
  expect_bounds<uint32_t>(&S::beam_size, {0, 1, 4}, {5}, "search.beam_size: above the limits'");
  expect_bounds<uint32_t>(&S::max_target_tokens, {0, 1, 20}, {21}, "search.max_target_tokens: above the limits'");
  expect_bounds<uint32_t>(&S::min_target_tokens, {0, 20}, {21}, "search.min_target_tokens: above max_target_tokens");
  expect_bounds<uint32_t>(&S::flags, {0, 15}, {32, UINT32_MAX}, "search.flags: unknown bits");
  expect_bounds<uint32_t>(&S::flags, {}, {16, 31}, "search.flags: the file has no timestamps");
  expect_bounds<float>(&S::length_penalty, {-2, 0, 4}, {std::nextafter(-2.0f, -3.0f), std::nextafter(4.0f, 5.0f), NAN},
      "search.length_penalty: outside [-2, 4]");
  expect_bounds<float>(&S::word_penalty, {-1024, 1024},
      {std::nextafter(-1024.0f, -2000.0f), std::nextafter(1024.0f, 2000.0f), NAN},
      "search.word_penalty: outside [-1024, 1024]");
}

TEST_F(Search, Rules) {
  using S = goldcrest_search;
  expect_bounds<uint8_t>(
      &S::renormalize, {0, GOLDCREST_YES}, {GOLDCREST_YES + 1}, "search.renormalize: not a goldcrest_choice");
  expect_bounds<uint8_t>(
      &S::force_end, {0, GOLDCREST_YES}, {GOLDCREST_YES + 1}, "search.force_end: not a goldcrest_choice");
  expect_bounds<uint8_t>(&S::early_stopping, {0, GOLDCREST_STOP_NEVER}, {GOLDCREST_STOP_NEVER + 1},
      "search.early_stopping: not a goldcrest_early_stopping");
  expect_bounds<uint8_t>(&S::length_penalty_kind, {0, GOLDCREST_LENGTH_WU}, {GOLDCREST_LENGTH_WU + 1},
      "search.length_penalty_kind: not a goldcrest_length_penalty");
  const float least = 1.0f / 1024, most = 1024;
  expect_bounds<float>(&S::repetition_penalty, {0, least, most},
      {std::nextafter(least, 0.0f), std::nextafter(most, 2000.0f), NAN, -1},
      "search.repetition_penalty: outside [2^-10, 2^10]");
  expect_bounds<float>(&S::max_length_factor, {0, least, HUGE_VALF}, {std::nextafter(least, 0.0f), NAN, -1},
      "search.max_length_factor: below 2^-10");
}

// Compares alignments with those of a naive forward pass in double, and, to the bit, with the kernels' attention.

using Model = InspectedModel;
using Naive = NaiveForward<double>;

// found [tokens][source] is the naive mean over some layers and heads.
void expect_naive_alignment(
    const TestEngine& engine, const Naive::CrossWeights& cross, goldcrest_alignment wanted, double tolerance) {
  const std::vector<float> found = engine.alignment(wanted);
  double total = 0;
  for (size_t s = 0; s < found.size(); ++s) {
    double sum = 0;
    int n = 0;
    for (size_t l = 0; l < cross.size(); ++l) {
      for (size_t h = 0; h < cross[l].size(); ++h) {
        if (wanted.layer >= 0 && static_cast<size_t>(wanted.layer) != l) continue;
        if (wanted.head >= 0 && static_cast<size_t>(wanted.head) != h) continue;
        sum += cross[l][h][wanted.token].at(s);
        ++n;
      }
    }
    EXPECT_NEAR(found[s], sum / n, tolerance) << "token " << wanted.token << ", source " << s;
    total += double{found[s]};
  }
  EXPECT_NEAR(total, 1, 1e-6);
}

TEST(Alignment, IsTheForwardPasssAlongEveryHypothesis) {
  for (const Model& model : inspected_models()) {
    const int32_t n_layers = static_cast<int32_t>(model.spec.decoder.layers.size());
    const int32_t n_heads = static_cast<int32_t>(model.spec.decoder.n_heads);
    Rng rng(97);
    for (const uint32_t beam_size : {1u, 4u}) {
      TestEngine engine(model.float32.span(), inspecting(beam_size, 1));
      for (int i = 0; i < 3; ++i) {
        const std::vector<int32_t> source = random_source(rng, model.spec);
        const std::vector<Translation> found = engine.run(std::span(&source, 1)).at(0);
        for (uint32_t rank = 0; rank < found.size(); ++rank) {
          Naive::CrossWeights cross;
          (void)Naive::logits(model.spec, source, found[rank].tokens, &cross);
          for (uint32_t token = 0; token < found[rank].tokens.size(); ++token) {
            for (int32_t layer = -1; layer < n_layers; ++layer)
              for (int32_t head = -1; head < n_heads; ++head)
                expect_naive_alignment(engine, cross, {0, rank, token, layer, head}, kCloseInspection);
          }
        }
      }
    }
  }
}

// If the memory keeps only some layers, -1 is their mean, and other layers are refused.
TEST(Alignment, KnowsTheLayersOfTheLimits) {
  const Model& model = inspected_models()[1];
  EngineSetup setup = inspecting(1, 1);
  TestEngine all(model.int8.span(), setup);
  setup.limits.alignment_layers = 2;
  TestEngine second(model.int8.span(), setup);
  EXPECT_LT(second.memory().decode_bytes, all.memory().decode_bytes);
  EXPECT_EQ(all.memory().limits.alignment_layers, 3u);
  const std::vector<int32_t> source = {4, 9, 1, 7, 0};
  (void)all.run(source);
  (void)second.run(source);
  for (const int32_t head : {-1, 0, 1}) {
    EXPECT_EQ(second.alignment({0, 0, 0, 1, head}), all.alignment({0, 0, 0, 1, head}));
    EXPECT_EQ(second.alignment({0, 0, 0, -1, head}), all.alignment({0, 0, 0, 1, head}));
  }
  EXPECT_NE(all.alignment({0, 0, 0, -1, -1}), all.alignment({0, 0, 0, 1, -1}));
}

// The weights are those with which the layer mixed its values: here the values are rows of the unit matrix. fine: with
// queries and keys of 16 bits. Returns the number of queries that became the same numbers again.
uint32_t expect_kernels_attention(const Model& model, bool fine) {
  const FileImage refined = fine_tiny_file(model.spec, {}, "none", fine ? "decoder.attention" : "none");
  TestEngine engine(fine ? refined.span() : model.int8.span(), inspecting(1, 1));
  const std::vector<int32_t> source = {4, 9, 1, 7, 3, 2, 2, 8, 0};
  const Translation found = engine.run(source);
  const Runtime& runtime = engine.get()->runtime;
  const DecoderRefs& decoder = engine.get()->decoder;
  const StackView& stack = runtime.model.decoder;
  EXPECT_EQ(stack.cache_type == CacheType::kFine, fine);
  const auto attention = fine ? runtime.kernels->fine_attention : runtime.kernels->int8.attention;
  const auto quantize = fine ? runtime.kernels->quantize_fine : runtime.kernels->int8.quantize_rows;
  const uint32_t n = static_cast<uint32_t>(source.size()), d = stack.d_head, width = fine ? 2 * d : d;
  EXPECT_GE(d, n);
  std::vector<int8_t> unit(size_t{n} * width), query_row(size_t{3} * d);
  std::vector<float> ones(n, 1.0f), query(d), out(d), scratch(32);
  for (uint32_t i = 0; i < n; ++i) unit[size_t{i} * width + (fine ? d : 0) + i] = 1;  // a low number is one itself
  uint32_t n_compared = 0;
  for (uint32_t layer = 0; layer < stack.n_layers; ++layer) {
    const KvCache keys = kv_cache_layer(runtime, stack, decoder.source_keys, layer, engine.get()->batch.row_capacity);
    const size_t rows = runtime.limits.max_target_tokens;
    const KvCache queries = recorded_queries(runtime, decoder.alignment, layer, rows);
    for (uint32_t head = 0; head < stack.n_heads; ++head) {
      for (uint32_t token = 0; token < found.tokens.size(); ++token) {
        const int8_t* kept = static_cast<const int8_t*>(queries.keys) + (head * rows + token) * width;
        const float scale = queries.key_scales[head * rows + token];
        for (uint32_t i = 0; i < d; ++i)
          query[i] = static_cast<float>(fine ? kept[i] * 254 + kept[d + i] : kept[i]) * scale;
        float scale_again;
        quantize({query.data(), query_row.data(), &scale_again, d, width, 1, 1, d});
        if (scale_again != scale || !std::equal(kept, kept + width, query_row.begin())) continue;
        ++n_compared;
        AttentionArgs<int8_t> args = {};
        args.q = query.data();
        args.keys = static_cast<const int8_t*>(keys.keys) + head * keys.rows * width;
        args.key_scales = keys.key_scales + head * keys.rows;
        args.values = unit.data();
        args.value_scales = ones.data();
        args.out = out.data();
        args.weights = scratch.data();
        args.q_row = query_row.data();
        args.q_stride = args.out_stride = d;
        args.position_stride = args.rows = args.n_heads = 1;
        args.n_keys = n;
        args.d_head = d;
        args.scale = stack.attention_scale;
        attention(args);
        const std::vector<float> weights =
            engine.alignment({0, 0, token, static_cast<int32_t>(layer), static_cast<int32_t>(head)});
        EXPECT_EQ(weights, std::vector<float>(out.begin(), out.begin() + n)) << fine;
      }
    }
  }
  return n_compared;
}

TEST(Alignment, IsTheKernelsAttentionToTheBit) {
  for (const Model& model : inspected_models()) {
    EXPECT_GT(expect_kernels_attention(model, false), 0u);
    EXPECT_GT(expect_kernels_attention(model, true), 0u);
  }
  const ModelSpec spec = tiny_spec({.decoder = {.d_head = 150}});  // align_head widens 128 numbers of a query
  EXPECT_GT(expect_kernels_attention(Model{spec, tiny_file(spec), tiny_file(spec)}, false), 0u);
}
}}  // namespace goldcrest::test
