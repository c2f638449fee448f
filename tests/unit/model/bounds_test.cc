// SPDX-License-Identifier: Apache-2.0
// The last value that each bound of the metadata allows, and the first that it does not. Sections are as large as these
// values need, and are not read.
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/crc32c.h"
#include "hostile_file.h"
#include "model/float_bounds.h"
#include "model/validate.h"
#include "model/validate/trailer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// Bytes of the weights, parameters, positions and tokenizer.
using Room = std::array<size_t, 4>;
constexpr Room kSome = {1u << 15, 1u << 15, 1u << 15, 1u << 15}, kWide = {1u << 22, 1u << 20, 1u << 21, 1u << 15};

// Returns the message, or nothing if the file passes.
std::string verdict_of(const FileImage& file, const Room& room, const Mutation& mutate) {
  const FileImage changed = remade_with_contents(file, [&](ModelT& m, Contents& contents) {
    for (size_t i = 0; i < room.size(); ++i) contents[i].resize(room[i]);
    mutate(m);
  });
  goldcrest_detail detail = {};
  const VerifyFunctions metadata = {crc32c, nullptr, true, true};
  const int status = validate_model(changed.bytes(), changed.size(), metadata, &detail);
  EXPECT_TRUE(status == GOLDCREST_OK || status == GOLDCREST_ERROR_MODEL_CORRUPT) << status;
  return status == GOLDCREST_OK ? "" : detail.message;
}

// `set` gives the metadata a value. All of `good` must pass, and none of `bad`.
template <typename Value>
void expect_bounds(const char* name, const std::function<void(ModelT&, Value)>& set, const std::vector<Value>& good,
    const std::vector<Value>& bad, const FileImage& file = smallest_file(), const Room& room = kSome) {
  const auto verdict = [&](Value value) { return verdict_of(file, room, [&](ModelT& m) { set(m, value); }); };
  for (const Value value : good) EXPECT_EQ(verdict(value), "") << name << ": " << value;
  for (const Value value : bad) EXPECT_EQ(verdict(value), name) << value;
}

using SetInteger = std::function<void(ModelT&, uint32_t)>;
using SetReal = std::function<void(ModelT&, float)>;

void expect_integers(
    const char* name, const SetInteger& set, const std::vector<uint32_t>& good, const std::vector<uint32_t>& bad) {
  expect_bounds<uint32_t>(name, set, good, bad);
}

void expect_reals(const char* name, float low, float high, const SetReal& set) {
  expect_bounds<float>(name, set, {low, high}, {std::nextafter(low, -INFINITY), std::nextafter(high, INFINITY), NAN});
}

// Sets the encoder's heads, and the matrices that depend on them.
void set_heads(ModelT& m, uint32_t n_heads, uint32_t d_head) {
  format::StackT& stack = *m.encoder;
  stack.n_heads = n_heads;
  stack.d_head = d_head;
  stack.layers[0]->self_attention->query_key_value->n = 3 * n_heads * d_head;
  stack.layers[0]->self_attention->out->k = n_heads * d_head;
}

void set_d_model(ModelT& m, uint32_t d_model) {
  format::StackT& stack = *m.decoder;
  format::LayerT& layer = *stack.layers[0];
  for (uint32_t* width : {&stack.d_model, &stack.embedding->d_model, &layer.self_attention->query_key_value->k,
           &layer.self_attention->out->n, &layer.cross_attention->query->k, &layer.cross_attention->out->n,
           &layer.feed_forward->in->k, &layer.feed_forward->out->n, &m.projection->k})
    *width = d_model;
}

TEST(Bounds, Widths) {
  const auto expect_widths = [](const char* name, const SetInteger& set, const std::vector<uint32_t>& good,
                                 const std::vector<uint32_t>& bad) {
    expect_bounds<uint32_t>(name, set, good, bad, smallest_file(), kWide);
  };
  const SetInteger set_d_ff = [](ModelT& m, uint32_t n) {
    m.encoder->d_ff = n;
    m.encoder->layers[0]->feed_forward->in->n = n;
    m.encoder->layers[0]->feed_forward->out->k = n;
  };
  expect_widths("encoder: dimensions", set_d_ff, {1, 65536}, {0, 65537});
  expect_widths("decoder: dimensions", set_d_model, {1, 65536}, {0, 65537});
  expect_widths("encoder: dimensions", [](ModelT& m, uint32_t n) { set_heads(m, n, 16); }, {1, 256}, {0, 257});
  expect_widths("encoder: dimensions", [](ModelT& m, uint32_t n) { set_heads(m, 1, n); }, {16, 32, 1024},
      {0, 1, 15, 17, 24, 1025, 1040});
  expect_widths("encoder: dimensions", [](ModelT& m, uint32_t n) { set_heads(m, n, 1024); }, {64}, {65});
  expect_widths("encoder: dimensions",
      [](ModelT& m, uint32_t n) { m.encoder->activation = static_cast<format::Activation>(n); }, {0, 3}, {4});
}

TEST(Bounds, Layers) {
  const SetInteger set_layers = [](ModelT& m, uint32_t n) {
    m.encoder->layers.resize(n);
    for (auto& layer : m.encoder->layers) {
      ModelT other;
      format::GetModel(smallest_file().bytes())->UnPackTo(&other);
      layer = std::move(other.encoder->layers[0]);
    }
  };
  expect_integers("encoder: dimensions", set_layers, {1, 256}, {0, 257});
}

TEST(Bounds, Positions) {
  const auto verdict = [](uint32_t n, const Room& room) {
    return verdict_of(smallest_file(), room, [&](ModelT& m) { m.encoder->max_positions = n; });
  };
  const Room most = {1u << 15, 1u << 15, (1u << 20) * 64, 1u << 15};
  EXPECT_EQ(verdict(1u << 20, most), "");
  EXPECT_EQ(verdict((1u << 20) + 1, most), "encoder.positions");
  EXPECT_EQ(verdict(0, kSome), "encoder.positions");
}

TEST(Bounds, Scales) {
  expect_reals("encoder: dimensions", 1e-4f, 1, [](ModelT& m, float x) { m.encoder->attention_scale = x; });
  expect_reals("decoder: dimensions", 1e-4f, 65536, [](ModelT& m, float x) { m.decoder->embedding_scale = x; });
  expect_reals("final_norm", 1e-12f, 1, [](ModelT& m, float x) { m.decoder->final_norm->epsilon = x; });
}

TEST(Bounds, Vocabularies) {
  expect_integers("projection", [](ModelT& m, uint32_t n) { m.projection->n = n; }, {7}, {(1u << 24) + 1, UINT32_MAX});
  expect_integers("decoder.embedding: rows", [](ModelT& m, uint32_t n) { m.projection->n = n; }, {7}, {0, 6, 8});
  expect_integers("encoder.embedding", [](ModelT& m, uint32_t n) { m.encoder->embedding->vocab_size = n; }, {6},
      {0, (1u << 24) + 1});
}

TEST(Bounds, GenerationIds) {
  using G = format::GenerationT;
  const auto ids = [](const char* name, uint32_t G::*id) {
    expect_integers(name, [=](ModelT& m, uint32_t n) { (*m.generation).*id = n; }, {0, 6}, {7, UINT32_MAX});
  };
  ids("generation.decoder_start_id", &G::decoder_start_id);
  ids("generation.end_id", &G::end_id);
  const auto optional_ids = [](const char* name, int32_t G::*id) {
    expect_bounds<int32_t>(
        name, [=](ModelT& m, int32_t n) { (*m.generation).*id = n; }, {-1, 0, 6}, {-2, 7, INT32_MIN});
  };
  optional_ids("generation.pad_id", &G::pad_id);
  optional_ids("generation.unknown_id", &G::unknown_id);
  optional_ids("generation.forced_first_id", &G::forced_first_id);
  const auto lists = [](const char* name, std::vector<uint32_t> G::*list, uint32_t vocab_size) {
    expect_integers(name,
        [=](ModelT& m, uint32_t n) {
          (*m.generation).*list = {0, n};
        },
        {0, vocab_size - 1}, {vocab_size});
  };
  lists("generation.suppressed_ids", &G::suppressed_ids, 7);
  lists("generation.source_prefix", &G::source_prefix, 6);
  lists("generation.source_suffix", &G::source_suffix, 6);
  expect_integers("generation.suppressed_ids", [](ModelT& m, uint32_t n) { m.generation->suppressed_ids.assign(n, 0); },
      {1u << 20}, {(1u << 20) + 1});
}

TEST(Bounds, GenerationNumbers) {
  expect_integers("generation.beam_size", [](ModelT& m, uint32_t n) { m.generation->beam_size = n; }, {1, 16}, {0, 17});
  const SetInteger set_most = [](ModelT& m, uint32_t n) {
    m.generation->max_target_tokens = n;
    m.generation->min_target_tokens = 0;
  };
  expect_integers("generation.max_target_tokens", set_most, {1, UINT32_MAX}, {0});
  const SetInteger set_least = [](ModelT& m, uint32_t n) {
    m.generation->max_target_tokens = 3;
    m.generation->min_target_tokens = n;
  };
  expect_integers("generation.max_target_tokens", set_least, {0, 3}, {4});
  expect_integers("generation.unknown_heads", [](ModelT& m, uint32_t n) { m.generation->unknown_heads = n; }, {0, 1},
      {2, UINT32_MAX});
  expect_integers(
      "generation.unknown_heads", [](ModelT& m, uint32_t n) { m.generation->unknown_layer = n; }, {0}, {1, UINT32_MAX});
  expect_reals("generation.length_penalty", -2, 4, [](ModelT& m, float x) { m.generation->length_penalty = x; });
  expect_reals("generation.word_penalty", -1024, 1024, [](ModelT& m, float x) { m.generation->word_penalty = x; });
}

TEST(Bounds, Rules) {
  const auto ruled = [](ModelT& m) -> format::GenerationT& {
    m.features |= kFeatureRules;
    return *m.generation;
  };
  expect_integers("generation.early_stopping",
      [&](ModelT& m, uint32_t n) { ruled(m).early_stopping = static_cast<uint8_t>(n); }, {0, 2}, {3});
  expect_integers("generation.length_penalty_kind",
      [&](ModelT& m, uint32_t n) { ruled(m).length_penalty_kind = static_cast<uint8_t>(n); }, {0, 1}, {2});
  expect_reals(
      "generation.repetition_penalty", 1.0f / 1024, 1024, [&](ModelT& m, float x) { ruled(m).repetition_penalty = x; });
  expect_reals(
      "generation.max_length_factor", 1.0f / 1024, 1024, [&](ModelT& m, float x) { ruled(m).max_length_factor = x; });
  expect_integers(
      "generation.more_end_ids", [&](ModelT& m, uint32_t n) { ruled(m).more_end_ids.assign(n, 6); }, {15}, {16});
  expect_integers("generation.more_end_ids", [&](ModelT& m, uint32_t id) { ruled(m).more_end_ids = {id}; }, {6}, {7});
  expect_reals("generation.biases", -65536, 65536, [&](ModelT& m, float x) {
    ruled(m).biased_ids = {5, 6};
    ruled(m).biases = {0, x};
  });
}

TEST(Bounds, Limits) {
  using L = format::LimitsT;
  const auto limit = [](const char* name, uint32_t L::*field, uint32_t most) {
    const SetInteger set = [=](ModelT& m, uint32_t n) {
      (*m.limits).*field = n;
      m.self_test.clear();
    };
    expect_integers(name, set, {1, most}, {0, most + 1});
  };
  limit("limits.max_source_tokens", &L::max_source_tokens, 4);
  limit("limits.max_target_tokens", &L::max_target_tokens, 4);
  limit("limits.beam_size", &L::beam_size, 16);
  limit("limits.batch", &L::batch, 256);
  limit("limits.encoder_rows", &L::encoder_rows, 1024);
  const SetInteger set_n_best = [](ModelT& m, uint32_t n) {
    m.limits->beam_size = 5;
    m.limits->n_best = n;
  };
  expect_integers("limits.n_best", set_n_best, {1, 5}, {0, 6});
  expect_integers("limits.max_source_bytes", [](ModelT& m, uint32_t n) { m.limits->max_source_bytes = n; },
      {0, 1u << 24}, {(1u << 24) + 1});
  const SetInteger set_without_tokenizer = [](ModelT& m, uint32_t n) {
    m.tokenizer.reset();
    m.limits->max_source_bytes = n;
  };
  expect_integers("limits.max_source_bytes", set_without_tokenizer, {0}, {1});
}

TEST(Bounds, SelfTests) {
  expect_integers(
      "self_test.source", [](ModelT& m, uint32_t n) { m.self_test[1]->source.assign(n, 5); }, {1, 4}, {0, 5});
  expect_integers(
      "self_test.target", [](ModelT& m, uint32_t n) { m.self_test[1]->target.assign(n, 6); }, {1, 4}, {0, 5});
  expect_integers("self_test.source", [](ModelT& m, uint32_t id) { m.self_test[1]->source = {0, id}; }, {5}, {6});
  expect_integers("self_test.target", [](ModelT& m, uint32_t id) { m.self_test[1]->target = {0, id}; }, {6}, {7});
}

TEST(Bounds, Tokenizers) {
  expect_integers("tokenizer: vocabulary", [](ModelT& m, uint32_t n) { m.tokenizer->vocab_size = n; }, {6}, {5, 7});
  expect_integers("tokenizer: vocabulary", [](ModelT& m, uint32_t n) { m.tokenizer->unknown_id = n; }, {0, 5}, {6});
  expect_integers(
      "tokenizer: vocabulary", [](ModelT& m, uint32_t n) { m.tokenizer->n_pieces = n; }, {6, 100}, {5, (1u << 24) + 1});
  expect_integers(
      "tokenizer.max_piece_bytes", [](ModelT& m, uint32_t n) { m.tokenizer->max_piece_bytes = n; }, {0, 4096}, {4097});
  const float most = 1e9f;
  expect_reals("tokenizer.unknown_score", -most, most, [](ModelT& m, float x) { m.tokenizer->unknown_score = x; });
  expect_reals("tokenizer.unknown_score", -most, most, [](ModelT& m, float x) { m.tokenizer->max_score = x; });
  expect_integers("detokenizer: vocabulary", [](ModelT& m, uint32_t n) { m.detokenizer->n_pieces = n; }, {7}, {6, 8});
  expect_integers("tokenizer.kind",
      [](ModelT& m, uint32_t n) { m.tokenizer->kind = static_cast<format::TokenizerKind>(n); }, {0, 3}, {4});
  expect_integers("detokenizer: vocabulary",
      [](ModelT& m, uint32_t n) { m.detokenizer->kind = static_cast<format::TokenizerKind>(n); }, {0, 3}, {4});
  // Only some kinds have scores.
  const auto set_kind_without_scores = [](ModelT& m, uint32_t kind) {
    m.tokenizer->kind = static_cast<format::TokenizerKind>(kind);
    m.tokenizer->score = UINT32_MAX;
  };
  expect_integers("tokenizer.score", set_kind_without_scores, {2, 3}, {0, 1});
}

TEST(Bounds, Shortlists) {
  const auto listed = [](const char* name, const SetInteger& set, const std::vector<uint32_t>& good,
                          const std::vector<uint32_t>& bad) {
    expect_bounds<uint32_t>(name, set, good, bad, smallest_listed_file());
  };
  listed("limits.max_candidates", [](ModelT& m, uint32_t n) { m.limits->max_candidates = n; }, {1, 7}, {0, 8});
  listed("shortlist.always", [](ModelT& m, uint32_t n) { m.shortlist->n_always = n; }, {0, 7}, {8});
  listed("shortlist.max_ngram", [](ModelT& m, uint32_t n) { m.shortlist->max_ngram = n; }, {2, 16}, {0, 1, 17});
  listed("shortlist.ngram_keys", [](ModelT& m, uint32_t n) { m.shortlist->n_ngrams = n; }, {1, 100}, {(1u << 24) + 1});
}

TEST(Exhaustive, ExtentsInSmallSections) {
  for (uint64_t size = 0; size <= 330; ++size) {
    for (uint32_t units = 0; units <= 7; ++units) {
      for (uint64_t bytes = 0; bytes <= 400; ++bytes)
        ASSERT_EQ((SectionView{nullptr, size}.holds(units, bytes)), 64 * units + bytes <= size)
            << units << ", " << bytes;
    }
  }
}

// The bounds of floats must be those of their magnitudes, for each pattern of bits from `begin` on in steps.
void expect_float_bounds(uint64_t begin, uint64_t end, uint64_t step) {
  for (uint64_t pattern = begin; pattern < end; pattern += step) {
    const auto bits = static_cast<uint32_t>(pattern);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    const double magnitude = std::fabs(static_cast<double>(value));
    const bool is_scale = value > 0 && magnitude >= std::ldexp(1.0, -47) && magnitude <= 65536;
    const bool is_value = bits == 0 || (magnitude >= std::ldexp(1.0, -60) && magnitude <= 65536);
    ASSERT_EQ(scales_in_range(&value, 1), is_scale) << std::hex << bits;
    ASSERT_EQ(values_in_range(&value, 1), is_value) << std::hex << bits;
  }
}

TEST(Exhaustive, FloatsAroundTheirBounds) {
  expect_float_bounds(0, uint64_t{1} << 32, 4099);
  for (const uint64_t bound : {0x00000000u, 0x21800000u, 0x28000000u, 0x47800000u, 0x7f800000u})
    for (const uint64_t sign : {0u, 0x80000000u})
      expect_float_bounds(bound + sign - (bound + sign < 4096 ? 0 : 4096), bound + sign + 4096, 1);
}

// Runs in the full tests: takes a minute.
TEST(Exhaustive, DISABLED_EveryFloat) { expect_float_bounds(0, uint64_t{1} << 32, 1); }
}}  // namespace goldcrest::test
