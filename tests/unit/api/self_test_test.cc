// SPDX-License-Identifier: Apache-2.0
// goldcrest_self_test passes if the file holds this engine's results, and otherwise names the first line that differs.
#include "converter/file/fine_inputs.h"
#include "goldcrest/decoding.h"
#include "model/model_view.h"
#include "model_generated.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::Payload;
using converter::SelfTestLine;

Payload tiny_payload() { return converter::build_payload(tiny_spec(odd_tiny_options()), {}); }

// Computes the engine's results for some sources, as the converter stores them.
std::vector<SelfTestLine> lines_for(const FileImage& file) {
  TestEngine engine(file.span(), {});
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  std::vector<SelfTestLine> lines;
  Rng rng(3);
  for (const uint32_t length : {1u, 5u, 9u, 15u}) {
    const std::vector<int32_t> source = rng.ids(length, engine.info().source_vocab_size);
    const Translation translation = engine.run(source);
    lines.push_back({{source.begin(), source.end()}, {translation.tokens.begin(), translation.tokens.end()},
        translation.logits_hash});
  }
  return lines;
}

int self_test(const FileImage& file, const EngineSetup& setup, goldcrest_detail* detail) {
  TestEngine engine(file.span(), setup);
  return goldcrest_self_test(engine.get(), detail);
}

TEST(SelfTest, PassesWithAnyLimitsThatItFits) {
  const Payload payload = tiny_payload();
  const FileImage file = assemble(payload, lines_for(assemble(payload, {})));
  for (const uint32_t beam_size : {1u, 5u}) {
    for (const uint32_t batch : {1u, 3u}) {
      for (const goldcrest_step_size step_size : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
        EngineSetup setup = {
            .limits = {.beam_size = beam_size, .batch = batch, .encoder_rows = batch}, .step_size = step_size};
        goldcrest_detail detail = {};
        EXPECT_EQ(self_test(file, setup, &detail), GOLDCREST_OK) << detail.message;
      }
    }
  }
}

TEST(SelfTest, IsNeverCoarse) {
  const ModelSpec spec = tiny_spec(odd_tiny_options());
  const FileImage fine = fine_tiny_file(spec);
  const std::vector<SelfTestLine> lines = lines_for(fine);
  EXPECT_NE(lines[0].hash, lines_for(tiny_file(spec))[0].hash);
  Payload payload = tiny_payload();
  converter::MatrixLevels all({{"all", converter::kFineInput}});
  converter::set_fine_inputs(all, *payload.metadata);
  const FileImage file = assemble(payload, lines);
  TestEngine engine(file.span(), {});
  goldcrest_search search = engine.search();
  search.flags = GOLDCREST_SEARCH_HASH_LOGITS | GOLDCREST_SEARCH_COARSE;
  engine.set_search(search);
  const std::vector<int32_t> source = {lines[0].source.begin(), lines[0].source.end()};
  const Translation before = engine.run(source);
  goldcrest_detail detail = {};
  EXPECT_EQ(goldcrest_self_test(engine.get(), &detail), GOLDCREST_OK) << detail.message;
  EXPECT_EQ(engine.run(source), before) << "the search is coarse as before";
}

TEST(SelfTest, LeavesOutWhatDoesNotFit) {
  const Payload payload = tiny_payload();
  std::vector<SelfTestLine> lines = lines_for(assemble(payload, {}));
  lines[3].hash ^= 1;  // 15 source ids
  const FileImage file = assemble(payload, lines);
  EngineSetup setup = {.limits = {.max_source_tokens = 14}};
  EXPECT_EQ(self_test(file, setup, nullptr), GOLDCREST_OK);
  goldcrest_detail detail = {};
  EXPECT_EQ(self_test(file, {}, &detail), GOLDCREST_ERROR_SELF_TEST);
  EXPECT_EQ(detail.index, 3);

  const FileImage long_only = assemble(payload, std::span(lines).last(1));
  EXPECT_EQ(self_test(long_only, setup, &detail), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_EQ(self_test(assemble(payload, {}), {}, &detail), GOLDCREST_ERROR_TOO_LONG) << "a file without lines";
}

TEST(SelfTest, NamesTheFirstLineThatDiffers) {
  const Payload payload = tiny_payload();
  const std::vector<SelfTestLine> right = lines_for(assemble(payload, {}));
  for (size_t line = 0; line < right.size(); ++line) {
    std::vector<std::vector<SelfTestLine>> wrong(3, right);
    wrong[0][line].hash ^= uint64_t{1} << 63;
    wrong[1][line].target[0] ^= 1;
    wrong[2][line].target.push_back(0);
    if (wrong[2][line].target.size() > 13) wrong.pop_back();
    for (const auto& lines : wrong) {
      goldcrest_detail detail = {};
      EXPECT_EQ(self_test(assemble(payload, lines), {}, &detail), GOLDCREST_ERROR_SELF_TEST);
      EXPECT_EQ(detail.index, static_cast<int32_t>(line));
      EXPECT_STREQ(detail.message, "self_test: another result than the converter's");
    }
  }
}

// The checksum finds a damaged weight. If the checksum was repaired, the self-test finds it.
TEST(SelfTest, OneWeightBitIsFound) {
  Payload payload = tiny_payload();
  const FileImage file = assemble(payload, lines_for(assemble(payload, {})));
  const std::vector<SelfTestLine> lines = lines_for(file);
  uint8_t* weight = &payload.sections[0].at(size_t{payload.metadata->projection->weights} * 64);

  FileImage damaged = file;
  const auto* at = std::search(file.span().data(), file.span().data() + file.size(), weight, weight + 64);
  ASSERT_NE(at, file.span().data() + file.size());
  damaged.bytes()[at - file.span().data()] ^= 4;
  goldcrest_detail detail = {};
  goldcrest_config config = {};
  goldcrest_engine* engine = nullptr;
  config.model = damaged.bytes();
  config.model_bytes = damaged.size();
  config.detail = &detail;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_STREQ(detail.message, "sections: checksum");

  *weight ^= 4;
  EngineSetup setup;
  setup.verify = GOLDCREST_VERIFY_STRUCTURE;  // full verification would also compare the sum of the row's weights
  EXPECT_EQ(self_test(assemble(payload, lines), setup, &detail), GOLDCREST_ERROR_SELF_TEST);
  EXPECT_EQ(detail.index, 0);
}

TEST(SelfTest, KeepsTheSearchAndEndsWhatWasUnderWay) {
  const Payload payload = tiny_payload();
  const FileImage file = assemble(payload, lines_for(assemble(payload, {})));
  TestEngine engine(file.span(), {.limits = {.beam_size = 3, .max_sampled = 8}});
  goldcrest_search search = engine.search();
  search.length_penalty = 0.5f;
  search.max_target_tokens = 6;
  engine.set_search(search);
  const std::vector<int32_t> source = {1, 2, 3};
  const Translation before = engine.run(source);
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  ASSERT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_WORKING);
  EXPECT_EQ(goldcrest_self_test(engine.get(), nullptr), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_ERROR_STATE) << "no source is left";
  EXPECT_EQ(engine.run(source), before);
  search.beam_size = 1;
  engine.set_search(search);
  const goldcrest_sampling sampling = {3, 4.0f, 8, 1.0f, 0.0f, 1, 0};
  ASSERT_EQ(goldcrest_set_sampling(engine.get(), &sampling), GOLDCREST_OK);
  const Translation drawn = engine.run(source);
  EXPECT_EQ(goldcrest_self_test(engine.get(), nullptr), GOLDCREST_OK) << "it draws nothing";
  EXPECT_EQ(engine.run(source), drawn);
}

// goldcrest_config.idle_weights: what the engine reports, when, and that it reads none of it before the next source.

struct Bytes {
  size_t offset, n;
  bool operator==(const Bytes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Bytes& bytes) { return out << bytes.offset << "+" << bytes.n; }

Bytes bytes_of(const LinearView& matrix) {
  return {size_t{matrix.weights} * 64, size_t{matrix.n} * matrix.k * bytes_of(matrix.weight_type)};
}

// Returns the weights that only encoding reads, in the order in which encoding finishes with them.
std::vector<Bytes> weights_of_encoding(const uint8_t* model) {
  const ModelView view = view_model(model);
  std::vector<Bytes> weights;
  for (uint32_t i = 0; i < view.encoder.n_layers; ++i) {
    const EncoderLayerView layer = view_encoder_layer(model, i);
    for (const LinearView& matrix :
        {layer.self_attention.query_key_value, layer.self_attention.out, layer.feed_forward.in, layer.feed_forward.out})
      weights.push_back(bytes_of(matrix));
  }
  for (uint32_t i = 0; i < view.decoder.n_layers; ++i)
    weights.push_back(bytes_of(view_decoder_layer(model, i).cross_attention.key_value));
  return weights;
}

// Returns the tables whose rows are looked up.
std::vector<Bytes> tables(const uint8_t* model) {
  const ModelView view = view_model(model);
  std::vector<Bytes> found;
  for (const StackView& stack : {view.encoder, view.decoder}) {
    if (stack.embedding.layout != Layout::kRowMajor) continue;
    found.push_back({size_t{stack.embedding.weights} * 64,
        size_t{pad16(stack.embedding.vocab_size)} * stack.d_model_padded * bytes_of(view.projection.weight_type)});
  }
  return found;
}

// A model in its own memory, and the ranges that the engine reported.
struct IdleModel {
  explicit IdleModel(const FileImage& file) : image(file.span().begin(), file.span().end()), bytes(image.size()) {
    std::copy(image.begin(), image.end(), bytes.begin());
  }

  static void report(void* context, const void* weights, size_t n) {
    IdleModel& model = *static_cast<IdleModel*>(context);
    const size_t offset = static_cast<size_t>(static_cast<const uint8_t*>(weights) - model.bytes.get());
    model.reported.push_back({offset, n});
    if (model.spoils) std::memset(model.bytes.get() + offset, 0x55, n);
  }

  EngineSetup setup(goldcrest_verify verify) {
    EngineSetup made = {.limits = {.beam_size = 2, .batch = 3}, .verify = verify};
    made.limits.encoder_rows = 2;  // so there are many blocks
    made.idle_weights = report;
    made.idle_context = this;
    return made;
  }

  const std::vector<uint8_t> image;
  GuardedBuffer<uint8_t> bytes;
  std::vector<Bytes> reported;
  bool spoils = false;
};

class IdleWeights : public testing::TestWithParam<TinyOptions> {
 protected:
  IdleWeights() : model_(tiny_file(tiny_spec(GetParam()))) {}

  std::vector<std::vector<int32_t>> sources(uint64_t seed) const {
    Rng rng(seed);
    std::vector<std::vector<int32_t>> made;
    for (const uint32_t n : {5u, 1u, 8u}) made.push_back(rng.ids(n, GetParam().source_vocab_size));
    return made;
  }

  IdleModel model_;
};

TEST_P(IdleWeights, AreReportedOnceTheyAreChecked) {
  const TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_FULL));
  std::vector<Bytes> expected = tables(model_.bytes.get());
  for (const Bytes& weights : weights_of_encoding(model_.bytes.get())) expected.push_back(weights);
  EXPECT_EQ(model_.reported, expected);
}

TEST_P(IdleWeights, AreNotReportedWhereTheyWereNotRead) {
  const TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_STRUCTURE));
  EXPECT_EQ(model_.reported, std::vector<Bytes>());
}

TEST_P(IdleWeights, AreReportedOnceABatchAndNotReadUntilTheNext) {
  TestEngine engine({model_.bytes.get(), model_.image.size()}, model_.setup(GOLDCREST_VERIFY_FULL));
  EngineSetup untold = model_.setup(GOLDCREST_VERIFY_FULL);
  untold.idle_weights = nullptr;
  const FileImage file = tiny_file(tiny_spec(GetParam()));
  TestEngine plain(file.span(), untold);
  model_.spoils = true;
  for (const uint64_t seed : {3u, 4u}) {
    model_.reported.clear();
    EXPECT_EQ(engine.run(sources(seed)), plain.run(sources(seed)));
    EXPECT_EQ(model_.reported, weights_of_encoding(model_.image.data()));
    EXPECT_FALSE(std::equal(model_.image.begin(), model_.image.end(), model_.bytes.begin())) << "nothing was spoilt";
    std::copy(model_.image.begin(), model_.image.end(), model_.bytes.begin());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, IdleWeights, testing::Values(odd_tiny_options(), deep_tiny_options(), mixed_tiny_options()));
}}  // namespace goldcrest::test
