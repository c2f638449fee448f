// SPDX-License-Identifier: Apache-2.0
// Breaks one thing at a time in a good model: the message names it, what was found and what was expected.
#include "spec/validate_spec.h"
#include "base/build_options.h"
#include "file/build.h"
#include "file/metadata.h"
#include "model/blocks.h"
#include "model_generated.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
struct Case {
  const char* message;
  std::function<void(ModelSpec&)> breaks;
};

std::shared_ptr<const Matrix> matrix(uint32_t rows, uint32_t columns) {
  return std::make_shared<Matrix>(Matrix{"w", rows, columns, std::vector<float>(size_t{rows} * columns)});
}

TEST(ValidateSpec, AGoodModelPasses) {
  validate_spec(test::random_spec(1));
  ModelSpec spec = test::random_recurrent_spec(1);
  validate_spec(spec);
  spec.decoder.layers[1] = test::random_spec(1).decoder.layers[1];  // layers may differ in kind
  validate_spec(spec);
}

void expect_refused(ModelSpec spec, const Case& c) {
  c.breaks(spec);
  EXPECT_EQ(test::error_of([&] { validate_spec(spec); }), c.message);
}

TEST(ValidateSpec, BrokenModelsAreNamed) {
  const Case cases[] = {
      {"tensor 'w' (encoder.embedding) has 2 stored scales; expected 3, one per row",
          [](ModelSpec& s) {
            Matrix table = *matrix(3, s.encoder.d_model);
            table.stored_scale = {1, 1};
            s.encoder.embedding = std::make_shared<const Matrix>(table);
          }},
      {"tensor 'w' (encoder.embedding): a stored scale is 131072; expected 7.1054274e-15 to 65536",
          [](ModelSpec& s) {
            Matrix table = *matrix(3, s.encoder.d_model);
            table.stored_scale = {1, 0x1p17f, 1};
            s.encoder.embedding = std::make_shared<const Matrix>(table);
          }},
      {"encoder.d_model is 0; expected 1 to 65536", [](ModelSpec& s) { s.encoder.d_model = 0; }},
      {"decoder.d_ff is 65537; expected 1 to 65536", [](ModelSpec& s) { s.decoder.d_ff = 65537; }},
      {"encoder.n_heads is 0; expected 1 to 256", [](ModelSpec& s) { s.encoder.n_heads = 0; }},
      {"encoder.d_head is 4294967295; expected 1 to 1024", [](ModelSpec& s) { s.encoder.d_head = UINT32_MAX; }},
      {"decoder: n_heads * d_head (padded to a multiple of 16) is 262144; expected 1 to 65536",
          [](ModelSpec& s) { s.decoder.n_heads = 256, s.decoder.d_head = 1024; }},
      {"decoder.attention_scale is nan; expected 0.0001 to 1", [](ModelSpec& s) { s.decoder.attention_scale = NAN; }},
      {"decoder.embedding_scale is 0; expected 0.0001 to 65536", [](ModelSpec& s) { s.decoder.embedding_scale = 0; }},
      {"encoder: number of layers is 0; expected 1 to 256", [](ModelSpec& s) { s.encoder.layers.clear(); }},
      {"encoder has no embedding; expected the shape [vocabulary, 20]",
          [](ModelSpec& s) { s.encoder.embedding = nullptr; }},
      {"tensor 'w' (decoder.embedding) has the shape [37, 23]; expected [37, 24]",
          [](ModelSpec& s) { s.decoder.embedding = matrix(37, 23); }},
      {"encoder: number of positions is 0; expected 1 to 1048576", [](ModelSpec& s) { s.encoder.positions.rows = 0; }},
      {"tensor 'encoder.positions' (encoder.positions) has 1 values; its shape [11, 20] needs 220",
          [](ModelSpec& s) { s.encoder.positions.values.edit().resize(1); }},
      {"tensor 'w' (encoder.layers.0.self_attention.key) has the shape [21, 20]; expected [20, 20]",
          [](ModelSpec& s) { s.encoder.layers[0].self_attention->key.weight = matrix(21, 20); }},
      {"tensor 'w' (decoder.layers.1.cross_attention.value) has the shape [54, 24]; expected [54, 20]",
          [](ModelSpec& s) { s.decoder.layers[1].cross_attention->value.weight = matrix(54, 24); }},
      {"decoder.layers.0.feed_forward.in has no weight; expected the shape [40, 24]",
          [](ModelSpec& s) { s.decoder.layers[0].feed_forward.in.weight = nullptr; }},
      {"decoder.layers.0.feed_forward.in.bias has 0 values; expected 40",
          [](ModelSpec& s) { s.decoder.layers[0].feed_forward.in.bias.clear(); }},
      {"encoder.final_norm.beta has 3 values; expected 20", [](ModelSpec& s) { s.encoder.final_norm->beta.resize(3); }},
      {"decoder.embedding_norm.epsilon is 0; expected 1e-12 to 1",
          [](ModelSpec& s) { s.decoder.embedding_norm->epsilon = 0; }},
      {"decoder.layers.1 lacks cross_attention; expected one",
          [](ModelSpec& s) { s.decoder.layers[1].cross_attention.reset(); }},
      {"encoder.layers.0 has cross_attention; expected none",
          [](ModelSpec& s) { s.encoder.layers[0].cross_attention.emplace(); }},
      {"tensor 'w' (projection) has the shape [38, 24]; expected [37, 24]",
          [](ModelSpec& s) { s.projection.weight = matrix(38, 24); }},
      {"generation: end id is 37; expected 0 to 36", [](ModelSpec& s) { s.generation.end_id = 37; }},
      {"generation: source suffix id is 19; expected 0 to 18", [](ModelSpec& s) { s.generation.source_suffix = {19}; }},
      {"generation: beam size is 20; expected 1 to 16", [](ModelSpec& s) { s.generation.beam_size = 20; }},
      {"generation: length penalty is inf; expected -2 to 4",
          [](ModelSpec& s) { s.generation.length_penalty = INFINITY; }},
      {"the source tokenizer has 0 ids; the encoder's embedding 'encoder.embedding' has 19 rows",
          [](ModelSpec& s) { s.source_tokenizer.emplace(); }},
  };
  for (const Case& c : cases) expect_refused(test::random_spec(1), c);
}

TEST(ValidateSpec, BrokenRecurrentBlocksAreNamed) {
  const AttentionSpec attention = *test::random_spec(1).decoder.layers[0].self_attention;
  const RecurrentSpec recurrent = *test::random_recurrent_spec(1).decoder.layers[0].recurrent;
  const Case cases[] = {
      {"decoder.layers.1 has no self-attention; expected self-attention or a recurrent block",
          [](ModelSpec& s) { s.decoder.layers[1].recurrent.reset(); }},
      {"decoder.layers.0 has both self-attention and a recurrent block; expected self-attention or a recurrent block",
          [&](ModelSpec& s) { s.decoder.layers[0].self_attention = attention; }},
      {"encoder.layers.0 has no self-attention; expected one",
          [](ModelSpec& s) { s.encoder.layers[0].self_attention.reset(); }},
      {"encoder.layers.0 has a recurrent block; only decoder layers may",
          [&](ModelSpec& s) { s.encoder.layers[0].recurrent = recurrent; }},
      {"tensor 'w' (decoder.layers.0.recurrent.input) has the shape [24, 20]; expected [24, 24]",
          [](ModelSpec& s) { s.decoder.layers[0].recurrent->input.weight = matrix(24, 20); }},
      {"decoder.layers.1.recurrent.forget has no weight; expected the shape [24, 24]",
          [](ModelSpec& s) { s.decoder.layers[1].recurrent->forget.weight = nullptr; }},
      {"decoder.layers.1.recurrent.forget.bias has 0 values; expected 24",
          [](ModelSpec& s) { s.decoder.layers[1].recurrent->forget.bias.clear(); }},
      {"decoder.layers.0.recurrent.norm.epsilon is 0; expected 1e-12 to 1",
          [](ModelSpec& s) { s.decoder.layers[0].recurrent->norm.epsilon = 0; }},
  };
  for (const Case& c : cases) expect_refused(test::random_recurrent_spec(1), c);
}

// Shortlists that no file can hold, each with its message, and the limit that comes with a shortlist.

// 19 source ids, 37 target ids.
ModelSpec listed_spec() {
  ModelSpec spec = test::random_spec(1);
  ShortlistSpec shortlist = {.always = {2, 36}};
  shortlist.offset.assign(20, 3);
  shortlist.offset[0] = 0;
  shortlist.ids = {1, 4, 5};
  shortlist.ngrams = {{{0, 1}, {7}}, {{0, 1, 2}, {}}, {{3, 3}, {8, 9}}};
  spec.shortlist = shortlist;
  return spec;
}

TEST(ValidateShortlist, SaysWhatIsWrong) {
  const std::pair<const char*, std::function<void(ShortlistSpec&)>> cases[] = {
      {"shortlist: the list of every sentence has the target id 37; expected 0 to 36",
          [](ShortlistSpec& s) { s.always[1] = 37; }},
      {"shortlist: the list of every sentence: 2 follows 2; expected ascending ids",
          [](ShortlistSpec& s) { s.always[1] = 2; }},
      {"shortlist: has 19 offsets; expected one for each of 19 source ids, and the end",
          [](ShortlistSpec& s) { s.offset.pop_back(); }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[3] = 2; }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[0] = 1; }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[19] = 4; }},
      {"shortlist: the list of the source id 0: 1 follows 4; expected ascending ids",
          [](ShortlistSpec& s) { std::swap(s.ids[0], s.ids[1]); }},
      {"shortlist: the list of the source id 0 has the target id 40; expected 0 to 36",
          [](ShortlistSpec& s) { s.ids[2] = 40; }},
      {"shortlist: an n-gram has 1 ids; expected 2 to 16", [](ShortlistSpec& s) { s.ngrams[0].ngram = {0}; }},
      {"shortlist: an n-gram has 17 ids; expected 2 to 16", [](ShortlistSpec& s) { s.ngrams[2].ngram.resize(17); }},
      {"shortlist: an n-gram has the source id 19; expected 0 to 18",
          [](ShortlistSpec& s) { s.ngrams[0].ngram[0] = 19; }},
      {"shortlist: its n-grams do not ascend; expected each once, in order",
          [](ShortlistSpec& s) {
            s.ngrams[1].ngram = {0, 1};
          }},
      {"shortlist: the list of an n-gram: 8 follows 8; expected ascending ids",
          [](ShortlistSpec& s) { s.ngrams[2].ids[1] = 8; }},
  };
  EXPECT_NO_THROW(validate_spec(listed_spec()));
  for (const auto& [message, damage] : cases) {
    ModelSpec spec = listed_spec();
    damage(*spec.shortlist);
    test::expect_error([&] { validate_spec(spec); }, {message});
  }
}

TEST(ValidateShortlist, TheLimitOfCandidates) {
  goldcrest_limits limits = {};
  EXPECT_EQ(resolve_limits(listed_spec(), limits).max_candidates, 37u);
  EXPECT_EQ(resolve_limits(test::random_spec(1), limits).max_candidates, 0u);
  limits.max_candidates = 20;
  EXPECT_EQ(resolve_limits(listed_spec(), limits).max_candidates, 20u);
  test::expect_error([&] { resolve_limits(test::random_spec(1), limits); },
      {"--max-candidates is 20, but the model has neither a shortlist nor a lexicon; leave it out"});
  limits.max_candidates = 38;
  test::expect_error([&] { resolve_limits(listed_spec(), limits); },
      {"--max-candidates is 38; expected 1 to 37, the target's vocabulary"});
}

TEST(ValidateShortlist, TheFileSaysThatItHasOne) {
  EXPECT_EQ(build_payload(test::random_spec(1), {}).metadata->features, 0u);
  const Payload payload = build_payload(listed_spec(), {});
  EXPECT_EQ(payload.metadata->features, kFeatureShortlist);
  EXPECT_EQ(payload.metadata->limits->max_candidates, 37u);
  EXPECT_EQ(payload.metadata->shortlist->n_ids, 6u);
  EXPECT_EQ(payload.metadata->shortlist->max_ngram, 3u);
}

// The engine's list of matrices agrees, for every layer, with the neutral spec's own check and with the file's
// contents.

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
}}  // namespace goldcrest::converter
