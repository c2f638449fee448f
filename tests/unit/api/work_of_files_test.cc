// SPDX-License-Identifier: Apache-2.0
// The work of reading a file grows with its bytes and with the contents that its metadata names, counted as often as
// they are named. The test files repeat one layer, or one line of the self-test.
#include <gtest/gtest.h>
#include "kernels/reference/reference.h"
#include "support/engine_fixture.h"
#include "support/instructions.h"
#include "unit/api/linear_work.h"
#include "unit/model/hostile_file.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kLineIds = 64;

// Makes all elements of a vector of tables refer to the first one.
template <typename Table>
void repeat_first(const flatbuffers::Vector<flatbuffers::Offset<Table>>* tables, uint32_t except = 0) {
  auto* const places = const_cast<uint8_t*>(tables->Data());
  const uint8_t* const first = places + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(places);
  for (uint32_t i = 1; i + except < tables->size(); ++i) {
    uint8_t* const place = places + sizeof(flatbuffers::uoffset_t) * i;
    flatbuffers::WriteScalar(place, static_cast<flatbuffers::uoffset_t>(first - place));
  }
}

TinyOptions options_of(uint32_t n_layers, uint32_t vocab_size) {
  return {.encoder = {.n_layers = n_layers, .positions = kLineIds},
      .decoder = {.n_layers = n_layers},
      .target_vocab_size = vocab_size};
}

// A file whose self-test repeats one line.
FileImage file_of_lines(uint32_t n_lines) {
  TinyOptions options = options_of(1, 37);
  options.decoder.positions = kLineIds;
  FileImage file = remade(tiny_file(tiny_spec(options)), [n_lines](ModelT& metadata) {
    metadata.limits->max_source_tokens = metadata.limits->max_target_tokens = kLineIds;
    for (uint32_t i = 0; i < n_lines; ++i) {
      auto line = std::make_unique<format::SelfTestLineT>();
      if (i == 0) line->source = line->target = std::vector<uint32_t>(kLineIds, 1);
      metadata.self_test.push_back(std::move(line));
    }
  });
  repeat_first(format::GetModel(file.bytes())->self_test());
  repair_checksums(file);
  return file;
}

// A file whose stacks each repeat one layer.
FileImage file_of_layers(uint32_t n_layers) {
  FileImage file = remade(tiny_file(tiny_spec(options_of(1, 37))), [n_layers](ModelT& metadata) {
    for (format::StackT* stack : {metadata.encoder.get(), metadata.decoder.get()})
      while (stack->layers.size() < n_layers) stack->layers.push_back(std::make_unique<format::LayerT>());
  });
  repeat_first(format::GetModel(file.bytes())->encoder()->layers());
  repeat_first(format::GetModel(file.bytes())->decoder()->layers());
  repair_checksums(file);
  return file;
}

// Counts the contents that metadata names, as often as it names them.
struct Named {
  uint64_t tables = 0, ids = 0, values = 0, weights = 0;

  void add(const format::NormT* norm, uint64_t width) {
    if (norm == nullptr) return;
    ++tables;
    values += 2 * width;
  }
  void add(const format::LinearT* linear) {
    if (linear == nullptr) return;
    ++tables;
    values += uint64_t{3} * pad16(linear->n);
    weights += uint64_t{pad16(linear->n)} * pad16(linear->k);
  }
  void add(const format::StackT& stack) {
    const uint64_t width = pad16(stack.d_model);
    ++tables;
    values += stack.max_positions * width + pad16(stack.embedding->vocab_size);
    weights += pad16(stack.embedding->vocab_size) * width;
    for (const auto* norm : {stack.embedding_norm.get(), stack.final_norm.get()}) add(norm, width);
    for (const auto& layer : stack.layers) {
      tables += 4;
      if (const auto* self = layer->self_attention.get(); self != nullptr)
        add(self->query_key_value.get()), add(self->out.get()), add(self->norm.get(), width);
      if (const auto* cross = layer->cross_attention.get(); cross != nullptr)
        add(cross->query.get()), add(cross->key_value.get()), add(cross->out.get()), add(cross->norm.get(), width);
      if (const auto* feed = layer->feed_forward.get(); feed != nullptr)
        add(feed->in.get()), add(feed->out.get()), add(feed->norm.get(), width);
    }
  }
};

Named named_by(const FileImage& file) {
  ModelT metadata;
  format::GetModel(file.bytes())->UnPackTo(&metadata);
  Named named;
  named.add(*metadata.encoder), named.add(*metadata.decoder), named.add(metadata.projection.get());
  for (const auto& line : metadata.self_test) {
    ++named.tables;
    named.ids += line->source.size() + line->target.size();
  }
  return named;
}

uint32_t metadata_bytes(const FileImage& file) {
  return format::GetModel(file.bytes())->sections()->Get(0)->offset() * 64;
}

// A table counts as 64 bytes, an id as 4.
uint64_t work_of_metadata(const FileImage& file) {
  const Named named = named_by(file);
  return metadata_bytes(file) + 64 * named.tables + 4 * named.ids;
}

Cost cost_of_info(const FileImage& file) {
  goldcrest_info info;
  const Counted counted =
      count_instructions([&] { return goldcrest_model_info(file.bytes(), file.size(), &info, nullptr); });
  EXPECT_EQ(counted.value, GOLDCREST_OK);
  return {counted.instructions, work_of_metadata(file)};
}

Cost cost_of_plan(const FileImage& file) {
  const Counted counted = count_instructions([&] { return goldcrest_arena_bytes(file.bytes(), file.size(), nullptr); });
  EXPECT_GT(counted.value, 0);
  return {counted.instructions, work_of_metadata(file)};
}

Cost cost_of_init(const FileImage& file, goldcrest_verify verify) {
  goldcrest_config config = {
      .model = file.bytes(), .model_bytes = file.size(), .verify = verify, .kernels = "reference"};
  const int64_t arena_bytes = goldcrest_arena_bytes(file.bytes(), file.size(), nullptr);
  EXPECT_GT(arena_bytes, 0);
  GuardedBuffer<uint8_t> arena(static_cast<size_t>(arena_bytes));
  config.arena = arena.get();
  config.arena_bytes = arena.size();
  goldcrest_engine* engine = nullptr;
  const Counted counted = count_instructions([&] { return goldcrest_init(&engine, &config); });
  EXPECT_EQ(counted.value, GOLDCREST_OK);
  const Named named = named_by(file);
  const uint64_t weights = format::GetModel(file.bytes())->sections()->Get(0)->size();
  uint64_t work = file.size() - weights + work_of_metadata(file) + 4 * named.values;
  if (verify == GOLDCREST_VERIFY_FULL) work += weights + named.weights;
  return {counted.instructions, work};
}

TEST(WorkOfFiles, IsOfTheMetadataForSizeQueries) {
  expect_linear(
      {"goldcrest_model_info, lines", 16}, [](uint32_t size) { return cost_of_info(file_of_lines(256 * size)); });
  expect_linear(
      {"goldcrest_model_info, layers", 16}, [](uint32_t size) { return cost_of_info(file_of_layers(32 * size)); });
  expect_linear(
      {"goldcrest_arena_bytes, lines", 16}, [](uint32_t size) { return cost_of_plan(file_of_lines(256 * size)); });
  expect_linear(
      {"goldcrest_arena_bytes, layers", 16}, [](uint32_t size) { return cost_of_plan(file_of_layers(32 * size)); });
}

TEST(WorkOfFiles, IsOfTheirBytesAndWhatTheyNameForStarting) {
  for (const goldcrest_verify verify : {GOLDCREST_VERIFY_FULL, GOLDCREST_VERIFY_STRUCTURE}) {
    const std::string call = verify == GOLDCREST_VERIFY_FULL ? "goldcrest_init, " : "goldcrest_init structure, ";
    expect_linear({call + "lines", 16}, [&](uint32_t size) { return cost_of_init(file_of_lines(128 * size), verify); });
    expect_linear(
        {call + "layers", 16}, [&](uint32_t size) { return cost_of_init(file_of_layers(16 * size), verify); });
    expect_linear({call + "outputs", 16},
        [&](uint32_t size) { return cost_of_init(tiny_file(tiny_spec(options_of(2, 1000 * size))), verify); });
  }
}
}}  // namespace goldcrest::test
