// SPDX-License-Identifier: Apache-2.0
// Compares the engine's beam search with the naive one, over models, sources and options.
#include "converter/reference/reference_search.h"
#include "decoding/outputs/output_layer.h"
#include "kernels/reference/reference.h"
#include "naive_search.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kMaxTarget = 9;

// Compares the engine's n-best list of one source with the naive one's. Returns the number of tokens of the best.
size_t compare(const ModelSpec& spec, const FileImage& file, const goldcrest_search& search,
    const std::vector<int32_t>& source, PrefixLogits& logits) {
  NaiveOptions options = {search, spec.generation.end_id, -1, spec.generation.suppressed_ids};
  if (spec.generation.forced_first_id) options.forced_first_id = static_cast<int32_t>(*spec.generation.forced_first_id);
  const std::vector<NaiveHypothesis> expected = naive_beam_search(logits, options);

  EngineSetup setup = {
      .limits = {.max_target_tokens = kMaxTarget, .beam_size = search.beam_size, .n_best = search.beam_size}};
  TestEngine engine(file.span(), setup);
  engine.set_search(search);
  const std::vector<Translation> found = engine.run(std::span(&source, 1)).at(0);
  EXPECT_TRUE(engine.memory_intact());
  expect_same(found, expected, 2e-5);
  EXPECT_TRUE(std::ranges::is_sorted(found, std::greater(), &Translation::score));
  return found.empty() ? 0 : found[0].tokens.size();
}

goldcrest_search search_with(uint32_t beam_size, float length_penalty) {
  return {.beam_size = beam_size, .max_target_tokens = kMaxTarget, .length_penalty = length_penalty};
}

struct Model {
  explicit Model(ModelSpec made) : spec(std::move(made)), file(tiny_file(spec)) {}
  ModelSpec spec;
  FileImage file;
};

Model model_with(uint64_t seed, uint32_t vocab_size, float end_bias) {
  TinyOptions options = {
      .seed = seed, .decoder = {.n_layers = 2}, .target_vocab_size = vocab_size, .end_bias = end_bias};
  return Model(tiny_spec(options));
}

TEST(Beam, EveryBeamSizeAndLengthPenalty) {
  const Model model = model_with(21, 37, 2);
  Rng rng(1);
  size_t shortest = kMaxTarget, longest = 0;
  for (int sentence = 0; sentence < 3; ++sentence) {
    const std::vector<int32_t> source = rng.ids(rng.between(1, 12), 29);
    PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
    for (const uint32_t beam_size : {2u, 3u, 4u, 6u, 16u}) {
      for (const float length_penalty : {0.0f, 0.6f, 1.0f, -1.0f}) {
        SCOPED_TRACE(testing::Message() << "beam size " << beam_size << ", length penalty " << length_penalty);
        const size_t n = compare(model.spec, model.file, search_with(beam_size, length_penalty), source, logits);
        shortest = std::min(shortest, n);
        longest = std::max(longest, n);
      }
    }
  }
  EXPECT_LT(shortest, longest) << "the cases should not all have the same length";
}

// Hypotheses keep their cells when beams are reordered, end and grow.
TEST(Beam, RecurrentLayers) {
  for (const TinyOptions& options : {mixed_tiny_options(), student_tiny_options()}) {
    Model model(tiny_spec(options));
    Rng rng(5);
    for (int sentence = 0; sentence < 3; ++sentence) {
      model.spec.generation.forced_first_id.reset();
      if (sentence == 2) model.spec.generation.forced_first_id = 5;
      model.file = tiny_file(model.spec);
      const std::vector<int32_t> source = rng.ids(rng.between(1, 12), options.source_vocab_size);
      PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
      for (const uint32_t beam_size : {2u, 3u, 4u, 16u}) {
        SCOPED_TRACE(testing::Message() << "seed " << options.seed << ", beam size " << beam_size);
        compare(model.spec, model.file, search_with(beam_size, 0.6f), source, logits);
      }
    }
  }
}

// A model as T5 in which each head and distance has a bias of its own.
ModelSpec spec_with_biases() {
  TinyOptions options = t5_tiny_options();
  options.end_bias = 0.5f;
  options.encoder.positions = 20;
  options.decoder.positions = kMaxTarget;
  ModelSpec spec = tiny_spec(options);
  for (converter::StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    auto table = std::make_shared<converter::AttentionBiasSpec>(*stack->layers[0].self_attention->bias);
    const uint32_t n = table->before + 1 + table->after;
    for (uint32_t i = 0; i < table->values.size(); ++i) {
      const uint32_t head = i / n, distance = i % n;
      table->values[i] =
          0.4f * static_cast<float>((head * 7 + distance * 5) % 11) + 0.01f * static_cast<float>(distance);
    }
    for (converter::LayerSpec& layer : stack->layers) layer.self_attention->bias = table;
  }
  return spec;
}

TEST(Beam, BiasesByDistanceGiveTheReferencesResults) {
  const ModelSpec spec = spec_with_biases();
  const FileImage file = tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32);
  const converter::Reference reference(spec);
  Rng rng(5);
  std::vector<std::vector<int32_t>> sources;
  for (const uint32_t length : {1u, 17u, 5u, 12u, 2u, 17u, 1u, 9u})
    sources.push_back(rng.ids(length, spec.encoder.embedding->rows));
  std::vector<int32_t> first_tokens;  // greedy search's
  int n_crossed = 0;
  for (const uint32_t beam_size : {1u, 4u}) {
    EngineSetup setup = {
        .limits = {.max_target_tokens = kMaxTarget, .beam_size = beam_size, .batch = 8, .n_best = beam_size}};
    TestEngine engine(file.span(), setup);
    engine.set_search(search_with(beam_size, 0.8f));
    const std::vector<std::vector<Translation>> found = engine.run(sources);
    converter::SearchOptions options = converter::default_search(spec);
    options.beam_size = options.n_best = beam_size;
    options.max_target_tokens = kMaxTarget;
    options.length_penalty = 0.8f;
    for (size_t i = 0; i < sources.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "beam size " << beam_size << ", sentence " << i);
      const std::vector<converter::Hypothesis> expected = converter::search(reference, sources[i], options);
      ASSERT_EQ(found[i].size(), expected.size());
      for (size_t rank = 0; rank < expected.size(); ++rank) {
        EXPECT_EQ(found[i][rank].tokens, expected[rank].tokens) << "rank " << rank;
        EXPECT_TRUE(beam_size == 1 || std::fabs(found[i][rank].score - expected[rank].score) < 1e-3);
      }
      if (beam_size == 1) first_tokens.push_back(found[i][0].tokens[0]);
      if (beam_size > 1) n_crossed += found[i][0].tokens[0] != first_tokens[i] ? 1 : 0;
    }
  }
  EXPECT_GT(n_crossed, 0) << "the best result comes from the slot that was the best at first, in each sentence";
}

TEST(Beam, WordPenaltyAndLengthBounds) {
  const Model model = model_with(22, 300, 4);
  Rng rng(2);
  const std::vector<int32_t> source = rng.ids(7, 29);
  PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
  for (const float word_penalty : {-0.5f, 0.5f}) {
    goldcrest_search search = search_with(4, 0.8f);
    search.word_penalty = word_penalty;
    compare(model.spec, model.file, search, source, logits);
  }
  for (const uint32_t min_tokens : {2u, 5u, kMaxTarget}) {
    goldcrest_search search = search_with(4, 1);
    search.min_target_tokens = min_tokens;
    EXPECT_GE(compare(model.spec, model.file, search, source, logits), min_tokens);
  }
  for (const uint32_t max_tokens : {1u, 2u, 5u}) {
    goldcrest_search search = search_with(5, 1);
    search.max_target_tokens = max_tokens;
    EXPECT_LE(compare(model.spec, model.file, search, source, logits), max_tokens);
  }
}

TEST(Beam, ForcedFirstAndSuppressedTokens) {
  Model model = model_with(23, 17, 1);
  model.spec.generation.forced_first_id = 5;
  model.spec.generation.suppressed_ids = {16, 3, 8};
  model.file = tiny_file(model.spec);
  Rng rng(3);
  for (int sentence = 0; sentence < 3; ++sentence) {
    const std::vector<int32_t> source = rng.ids(5, 29);
    PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
    for (const uint32_t beam_size : {2u, 5u})
      compare(model.spec, model.file, search_with(beam_size, 1), source, logits);
  }
}

// There are fewer continuations than beams: 3 ids, one of which is suppressed and one is the end.
TEST(Beam, VocabularySmallerThanTheBeam) {
  const Model model = model_with(24, 3, 0);
  const std::vector<int32_t> source = {1, 2, 3};
  PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
  for (const uint32_t beam_size : {2u, 7u, 16u})
    compare(model.spec, model.file, search_with(beam_size, 1), source, logits);
}

// Equal rows in a tied embedding give equal logits and equal futures: the earlier parent wins, then the lower token.
// The end token is one of three equals, so a finished hypothesis and a live one have the same score.
void check_ties(float bias_of_first_group) {
  Model model = model_with(25, 40, 0);
  auto rows = std::make_shared<converter::Matrix>(*model.spec.decoder.embedding);
  for (uint32_t row = 0; row < 39; ++row) {
    const uint32_t first = row / 3 * 3;
    std::vector<float>& values = rows->values.edit();
    std::copy_n(values.begin() + first * rows->columns, rows->columns, values.begin() + row * rows->columns);
    model.spec.projection.bias[row] = first == 0 ? bias_of_first_group : model.spec.projection.bias[first];
  }
  model.spec.projection.weight = model.spec.decoder.embedding = rows;
  model.file = tiny_file(model.spec);
  Rng rng(4);
  for (int sentence = 0; sentence < 12; ++sentence) {
    const std::vector<int32_t> source = rng.ids(6, 29);
    PrefixLogits logits(model.file.span(), source, kMaxTarget + 1);
    const std::vector<float>& first = logits.after({});
    EXPECT_EQ(first[0], first[2]);
    EXPECT_EQ(first[3], first[5]);
    for (const uint32_t beam_size : {2u, 3u, 4u, 8u}) {
      for (const float length_penalty : {0.0f, 1.0f, 2.0f}) {
        SCOPED_TRACE(testing::Message() << "beam size " << beam_size << ", length penalty " << length_penalty);
        compare(model.spec, model.file, search_with(beam_size, length_penalty), source, logits);
      }
    }
    TestEngine greedy(model.file.span(), {.limits = {.max_target_tokens = kMaxTarget}});
    for (const int32_t token : greedy.run(source).tokens) EXPECT_EQ(token % 3, 0);
  }
}

TEST(Beam, TiesGoToTheEarlierParentThenTheLowerToken) {
  check_ties(2);
  check_ties(8);  // the first group is best at every position
}

// The best tokens of a row, block by block, and the log-sum-exp over blocks.

// A row's list over arrays of its own.
struct Row {
  Row(uint32_t vocab_size, uint32_t per_row)
      : logits(kOutputBlock),
        block_max((vocab_size + 255) / 256),
        block_sum(block_max.size()),
        values(per_row),
        tokens(per_row) {
    outputs.n = vocab_size;
    const auto n_blocks = static_cast<uint32_t>(block_max.size());
    lists = {logits.data(), block_max.data(), block_sum.data(), values.data(), tokens.data(), &count, per_row, n_blocks,
        n_blocks};
  }

  LogitBlock block(Range of) { return {logits.data(), of, outputs, lists, 0}; }

  void collect_all(const std::vector<float>& x) {
    count = 0;
    for (uint32_t first = 0; first < x.size(); first += kOutputBlock) {
      const uint32_t n = std::min<uint32_t>(kOutputBlock, static_cast<uint32_t>(x.size()) - first);
      std::copy_n(x.begin() + first, n, logits.begin());
      block_max[first / kOutputBlock] = *std::max_element(logits.begin(), logits.begin() + n);
      if (may_enter(lists, 0, first / kOutputBlock)) collect(kernels_reference, block({first, n}));
    }
  }

  std::vector<float> logits, block_max, block_sum, values;
  std::vector<int32_t> tokens;
  uint32_t count = 0;
  OutputSet outputs = {};
  TopTokens lists = {};
};

TEST(MayEnter, OnlyWhatIsBetterThanAFullList) {
  Row row(2 * kOutputBlock, 2);
  row.block_max = {3.0f, 2.0f};
  EXPECT_TRUE(may_enter(row.lists, 0, 0));
  row.count = 2;
  row.values = {3.0f, 2.0f};
  EXPECT_FALSE(may_enter(row.lists, 0, 1));  // among equal values the lower id stays
  row.block_max[1] = 2.5f;
  EXPECT_TRUE(may_enter(row.lists, 0, 1));
  row.block_max[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(may_enter(row.lists, 0, 1));
}

TEST(Collect, EqualsAStableSort) {
  Rng rng(1);
  for (const uint32_t vocab_size : {1u, 2u, 17u, 255u, 256u, 257u, 1000u}) {
    for (const uint32_t per_row : {1u, 2u, 8u, 32u}) {
      std::vector<float> x(vocab_size);
      // A few distinct values make ties, also across blocks; some are removed.
      for (float& value : x)
        value = rng.below(5) == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>(rng.below(40));
      std::vector<int32_t> order;
      for (uint32_t i = 0; i < vocab_size; ++i)
        if (std::isfinite(x[i])) order.push_back(static_cast<int32_t>(i));
      std::stable_sort(order.begin(), order.end(),
          [&](int32_t a, int32_t b) { return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)]; });
      order.resize(std::min<size_t>(order.size(), per_row));
      Row row(vocab_size, per_row);
      row.collect_all(x);
      EXPECT_EQ(std::vector<int32_t>(row.tokens.begin(), row.tokens.begin() + row.count), order)
          << vocab_size << " ids, best " << per_row;
      for (uint32_t i = 0; i < row.count; ++i) EXPECT_EQ(row.values[i], x[static_cast<size_t>(row.tokens[i])]);
    }
  }
}

// Several tasks, each with some of the blocks in ascending order, together find what one task finds.
TEST(Collect, MergedListsOfAnyBlocksAreTheListOfAll) {
  Rng rng(4);
  constexpr uint32_t kBlocks = 6;
  for (const uint32_t per_row : {1u, 2u, 8u, 32u}) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<float> x(kBlocks * kOutputBlock);
      for (float& value : x) value = static_cast<float>(rng.below(30));  // with ties
      Row all(kBlocks * kOutputBlock, per_row);
      all.collect_all(x);
      Row tasks[3] = {
          {kBlocks * kOutputBlock, per_row}, {kBlocks * kOutputBlock, per_row}, {kBlocks * kOutputBlock, per_row}};
      for (uint32_t block = 0; block < kBlocks; ++block) {
        Row& task = tasks[rng.below(3)];
        std::copy_n(x.begin() + block * kOutputBlock, kOutputBlock, task.logits.begin());
        collect(kernels_reference, task.block({block * kOutputBlock, kOutputBlock}));
      }
      merge_top_tokens(tasks[0].lists, tasks[1].lists, 0);
      merge_top_tokens(tasks[0].lists, tasks[2].lists, 0);
      EXPECT_EQ(tasks[0].count, all.count);
      EXPECT_EQ(tasks[0].tokens, all.tokens) << "best " << per_row;
      EXPECT_EQ(tasks[0].values, all.values);
    }
  }
}

// Tasks have neighbouring outputs within a block.
TEST(Collect, MergedListsAreTheListOfAll) {
  Rng rng(3);
  for (const uint32_t per_row : {1u, 2u, 8u}) {
    for (const uint32_t split : {0u, 1u, 100u, 255u, 256u}) {
      std::vector<float> x(256);
      for (float& value : x) value = static_cast<float>(rng.below(30));  // with ties
      Row all(256, per_row), low(256, per_row), high(256, per_row);
      all.collect_all(x);
      low.collect_all({x.begin(), x.begin() + split});
      std::copy(x.begin() + split, x.end(), high.logits.begin());
      collect(kernels_reference, high.block({split, 256 - split}));
      merge_top_tokens(low.lists, high.lists, 0);
      EXPECT_EQ(low.count, all.count);
      EXPECT_EQ(low.tokens, all.tokens) << split << ", best " << per_row;
      EXPECT_EQ(low.values, all.values);
    }
  }
}

TEST(LogSumExp, EqualsTheSumOverAllOutputs) {
  Rng rng(2);
  for (const uint32_t n_blocks : {1u, 2u, 5u}) {
    Row row(n_blocks * kOutputBlock, 1);
    double sum = 0;
    for (uint32_t b = 0; b < n_blocks; ++b) {
      float largest = -1e30f;
      std::vector<float> x(kOutputBlock);
      for (float& value : x) {
        value = 20 * rng.uniform();
        largest = std::max(largest, value);
        sum += std::exp(double{value});
      }
      double block_sum = 0;
      for (const float value : x) block_sum += std::exp(double{value} - largest);
      row.block_max[b] = largest;
      row.block_sum[b] = static_cast<float>(block_sum);
    }
    EXPECT_NEAR(log_sum_exp(row.lists, 0), std::log(sum), 4e-6);
  }
}
}}  // namespace goldcrest::test
