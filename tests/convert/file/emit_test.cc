// SPDX-License-Identifier: Apache-2.0
// Reads the sources for a compiler as text; tests/consumers compiles and runs them.
#include "base/hash.h"
#include "convert/support/section_bytes.h"
#include "file/build.h"
#include "file/emit_c.h"
#include "file/relayout.h"
#include "file/write.h"
#include "model_generated.h"
#include "report/board.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
using EmitC = test::InFolder;

goldcrest_memory memory() {
  return {.arena_bytes = 640,
      .main_bytes = 512,
      .scratch_bytes = uint64_t{1} << 33,
      .limits = {25, 200, 33, 4, 5, 3, 2, 1, 0, 0, 0, 6, 0, 0}};
}

std::vector<uint8_t> bytes() {
  std::vector<uint8_t> bytes(320);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
  return bytes;
}

// Returns the value of a #define.
std::string macro(const std::string& header, const std::string& name) {
  const std::string start = "#define " + name + " ";
  const size_t at = header.find(start);
  if (at == std::string::npos) return "absent";
  return header.substr(at + start.size(), header.find('\n', at) - at - start.size());
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST_F(EmitC, NamesAreIdentifiers) {
  EXPECT_EQ(c_name("g2p"), "model_g2p");
  EXPECT_EQ(c_name("opus-mt-en-fr v2.1"), "model_opus_mt_en_fr_v2_1");
  EXPECT_EQ(c_name("*/ int x; /*"), "model____int_x____");
  EXPECT_EQ(c_name("\xc3\xa9t\xc3\xa9"), "model___t__");
  for (const char* name : {"", "///", "\xc3\xa9"}) test::expect_error([&] { c_name(name); }, {"--name"}, name);
}

TEST_F(EmitC, SectionNamesAreOnesThatAnAssemblerTakes) {
  for (const char* name : {".rodata", ".flash_2.model"}) check_section_name(name);
  for (const char* name : {"", "a b", ".x,\"aw\"", "x\n.data", "x)"})
    test::expect_error([&] { check_section_name(name); }, {"not a section name"}, name);
}

TEST_F(EmitC, TheHeaderHasEveryNumber) {
  emit_c(folder / "new" / "folder", {"model_g2p", "", false}, bytes(), memory());
  const std::string header = folder.read("new/folder/model_g2p.h");
  const std::pair<const char*, const char*> values[] = {{"MAX_SOURCE_TOKENS", "25u"}, {"MAX_SOURCE_BYTES", "200u"},
      {"MAX_TARGET_TOKENS", "33u"}, {"BEAM_SIZE", "4u"}, {"BATCH", "5u"}, {"N_BEST", "3u"}, {"ENCODER_ROWS", "2u"},
      {"THREADS", "1u"}, {"ARENA_BYTES", "640u"}, {"MAIN_BYTES", "512u"}, {"SCRATCH_BYTES", "8589934592ull"},
      {"STACK_BYTES", "GOLDCREST_STACK_BYTES"}, {"BYTES", "320u"}};
  for (const auto& [name, value] : values) EXPECT_EQ(macro(header, std::string("MODEL_G2P_") + name), value) << header;
  EXPECT_EQ(macro(header, "MODEL_G2P_LIMITS"),
      "{MODEL_G2P_MAX_SOURCE_TOKENS, MODEL_G2P_MAX_SOURCE_BYTES, MODEL_G2P_MAX_TARGET_TOKENS, MODEL_G2P_BEAM_SIZE, "
      "MODEL_G2P_BATCH, MODEL_G2P_N_BEST, MODEL_G2P_ENCODER_ROWS, MODEL_G2P_THREADS, MODEL_G2P_INSPECTION, "
      "MODEL_G2P_ALIGNMENT_LAYERS, MODEL_G2P_MAX_CANDIDATES, MODEL_G2P_MAX_PREFIX_TOKENS, MODEL_G2P_MAX_SAMPLED, "
      "MODEL_G2P_LEXICON}");
  EXPECT_TRUE(test::has(header, "extern const unsigned char model_g2p[MODEL_G2P_BYTES];"));
}

TEST_F(EmitC, AssemblerAndFileOrAnArray) {
  const std::vector<uint8_t> model = bytes();
  const auto written = emit_c(folder / "S", {"model_x", "", false}, model, memory());
  EXPECT_EQ(written, (std::vector{folder / "S/model_x.gcst", folder / "S/model_x.S", folder / "S/model_x.h"}));
  EXPECT_EQ(files_in(folder / "S"), 3u);
  EXPECT_EQ(folder.read("S/model_x.gcst"), std::string(model.begin(), model.end()));
  const std::string assembler = folder.read("S/model_x.S");
  for (const char* line : {".section .rodata.model_x, \"a\", %progbits", ".balign 64", ".incbin \"model_x.gcst\""})
    EXPECT_TRUE(test::has(assembler, line));

  emit_c(folder / "C", {"model_x", ".flash", true}, model, memory());
  EXPECT_EQ(files_in(folder / "C"), 2u);
  const std::string array = folder.read("C/model_x.c");
  EXPECT_TRUE(test::has(array, "__attribute__((section(\".flash\")))"));
  EXPECT_TRUE(test::has(array, "__attribute__((aligned(GOLDCREST_ALIGN)))"));
  std::istringstream numbers(array.substr(array.find('{') + 1));
  std::vector<uint8_t> values;
  unsigned value = 0;
  char comma = 0;
  while (numbers >> value >> comma) values.push_back(static_cast<uint8_t>(value));
  EXPECT_EQ(values, model);
}

TEST_F(EmitC, AFolderThatCannotBeMade) {
  const std::filesystem::path file = folder.write("file", "x");
  test::expect_error([&] { emit_c(file, {"model_x", "", false}, bytes(), memory()); }, {file.string()});
  test::expect_error(
      [&] {
        emit_c(file / "below", {"model_x", "", false}, bytes(), memory());
      },
      {"creating the directory"});
}

// Changing a file's layout gives the bytes of a conversion to that layout.

constexpr Layout kLayouts[] = {Layout::kN16K4, Layout::kN4K16};

FileImage image_of(const ModelSpec& spec, Layout layout) {
  const SelfTestLine lines[] = {{{5, 3, 0}, {1, 2, 0}, 0x0123456789abcdefu}, {{7}, {0}, 1}};
  return assemble(build_payload(spec, {.layout = layout}), lines);
}

bool same(const FileImage& a, const FileImage& b) { return std::ranges::equal(a.span(), b.span()); }

TEST(Relayout, TheBytesOfConvertingToThatLayout) {
  ModelSpec tied = test::random_spec(12);
  tied.projection.weight = tied.decoder.embedding;
  for (const ModelSpec& spec : {test::random_spec(11), tied, test::random_recurrent_spec(11)}) {
    for (const Layout from : kLayouts) {
      for (const Layout to : kLayouts) {
        const FileImage source = image_of(spec, from), expected = image_of(spec, to);
        EXPECT_EQ(same(source, expected), from == to);
        EXPECT_TRUE(same(relay_out(source, to, "model.gcst"), expected));
      }
    }
  }
}

TEST(Relayout, TheRoomOfTheMetadataStays) {
  const SelfTestLine lines[] = {{{5, 3, 0}, {1, 2, 0}, 0x0123456789abcdefu}};
  const Payload payload = build_payload(test::random_spec(11), {});
  for (const uint64_t room : {uint64_t{0}, metadata_bytes_of_any_weights(payload, lines), uint64_t{10000}}) {
    const FileImage image = assemble(payload, lines, room);
    const FileImage there = relay_out(image, Layout::kN4K16, "model.gcst");
    EXPECT_EQ(there.size(), image.size());
    EXPECT_TRUE(same(relay_out(there, Layout::kN16K4, "model.gcst"), image));
  }
}

TEST(Relayout, WhatItCannotKeepIsRefused) {
  FileImage image = image_of(test::random_spec(11), Layout::kN16K4);
  image.bytes()[image.size() - 100] ^= 1;
  test::expect_error([&] { relay_out(image, Layout::kN4K16, "model.gcst"); }, {"model.gcst: "});

  const Payload payload = build_payload(test::random_spec(11), {});
  const auto relay_out_changed = [&](auto change) {
    Payload changed;
    changed.metadata.reset(new format::ModelT(*payload.metadata));
    changed.sections = payload.sections;
    change(changed);
    (void)relay_out(assemble(changed, {}), Layout::kN4K16, "model.gcst");
  };
  test::expect_error([&] { relay_out_changed([](Payload& model) { ++model.metadata->weights_hash_low; }); },
      {"model.gcst: the weights' hash is", "expected"});
  test::expect_error(
      [&] { relay_out_changed([](Payload& model) { ++model.sections[0].at(0); }); }, {"the weights' hash is"});
  test::expect_error(
      [&] {
        relay_out_changed([](Payload& model) { ++model.metadata->encoder->layers[0]->feed_forward->in->weights; });
      },
      {"overlap"});
  test::expect_error(
      [&] {
        relay_out_changed([](Payload& model) {
          model.metadata->projection->weights = model.metadata->encoder->layers[0]->self_attention->out->weights;
        });
      },
      {"share their bytes"});
}

TEST(Relayout, AModelFileIsKnownByItsEndingOrItsIdentifier) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(is_model_file(folder.write("a.gcst", "")));
  EXPECT_TRUE(is_model_file(folder.write("a.bin", std::string("\1\0\0\0GCST", 8))));
  EXPECT_FALSE(is_model_file(folder.write("b.bin", "GCST")));
  EXPECT_FALSE(is_model_file(folder.path()));
  EXPECT_FALSE(is_model_file(folder / "missing.gcst"));
  test::expect_error([&] { read_model_file(folder / "a.gcst"); }, {"a.gcst: the file is empty"});
  // Without the identifier a file is no model, whatever its size is.
  for (const std::string& bytes : {std::string("GCST"), std::string(128, 'x')}) {
    const std::filesystem::path file = folder.write("b.bin", bytes);
    test::expect_error(
        [&] { read_model_file(file); }, {"b.bin: it is not a .gcst file; expected one that goldcrest-convert made"});
  }
  const std::string begin("\1\0\0\0GCST", 8);
  folder.write("c", begin + "1234");
  test::expect_error(
      [&] { read_model_file(folder / "c"); }, {"c: ", "12 bytes", "multiple of 64", "its end is missing"});
  EXPECT_EQ(read_model_file(folder.write("d", begin + std::string(120, 'x'))).size(), 128u);
}

// A file with float32 weights holds the checkpoint's numbers, bit for bit, at the places that FORMAT.md gives them.

Payload float32_payload(const ModelSpec& spec) { return build_payload(spec, {.weights = Weights::kFloat32}); }

// Returns element [row, column] of a matrix at `units` of the section Weights; `columns` includes the padding.
float weight(const Payload& payload, uint32_t units, uint32_t columns, uint32_t row, uint32_t column) {
  float value = 0;
  const size_t offset = units * size_t{64} + 4 * (size_t{row} * columns + column);
  std::memcpy(&value, &test::section_bytes(payload.sections[0]).at(offset), sizeof value);
  return value;
}

void expect_stored(const Payload& payload, uint32_t units, const Matrix& matrix) {
  const uint32_t columns = pad16(matrix.columns);
  for (uint32_t r = 0; r < pad16(matrix.rows); ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      const bool padding = r >= matrix.rows || c >= matrix.columns;
      ASSERT_EQ(weight(payload, units, columns, r, c), padding ? 0.0f : matrix.row(r)[c]) << matrix.name;
    }
  }
}

TEST(BuildFloat32, MatricesAreTheCheckpoints) {
  const ModelSpec spec = test::random_spec(3);
  const Payload payload = float32_payload(spec);
  EXPECT_EQ(payload.metadata->features, 1u);
  expect_stored(payload, payload.metadata->encoder->embedding->weights, *spec.encoder.embedding);
  expect_stored(payload, payload.metadata->projection->weights, *spec.projection.weight);
  const auto& layer = *payload.metadata->encoder->layers[0];
  expect_stored(payload, layer.feed_forward->in->weights, *spec.encoder.layers[0].feed_forward.in.weight);
  EXPECT_EQ(layer.feed_forward->in->scale, 0u);
  EXPECT_EQ(layer.feed_forward->in->weight_sum, 0u);
  EXPECT_EQ(layer.feed_forward->in->layout, format::Layout::RowMajor);
}

// FORMAT.md, "Heads": row i of a part with heads of d is row (i / d) * d_head + i % d; the columns of `out` likewise.
TEST(BuildFloat32, HeadsArePaddedOneByOne) {
  const ModelSpec spec = test::random_spec(3);
  const Payload payload = float32_payload(spec);
  const uint32_t d = spec.decoder.d_head, padded = pad16(d), width = spec.decoder.n_heads * padded;
  const AttentionSpec& cross = *spec.decoder.layers[1].cross_attention;
  const format::CrossAttentionT& stored = *payload.metadata->decoder->layers[1]->cross_attention;
  const uint32_t columns = pad16(spec.encoder.d_model);
  for (uint32_t i = 0; i < spec.decoder.n_heads * d; ++i) {
    const uint32_t place = i / d * padded + i % d;
    for (uint32_t c = 0; c < spec.encoder.d_model; ++c) {
      ASSERT_EQ(weight(payload, stored.key_value->weights, columns, place, c), cross.key.weight->row(i)[c]);
      ASSERT_EQ(weight(payload, stored.key_value->weights, columns, width + place, c), cross.value.weight->row(i)[c]);
    }
    for (uint32_t r = 0; r < spec.decoder.d_model; ++r)
      ASSERT_EQ(weight(payload, stored.out->weights, width, r, place), cross.out.weight->row(r)[i]);
  }
}

TEST(BuildFloat32, WeightsThatTheKernelsCannotTakeAreRefusedOrZero) {
  ModelSpec spec = test::random_spec(3);
  auto matrix = std::make_shared<Matrix>(*spec.encoder.layers[0].feed_forward.in.weight);
  matrix->values.edit()[3] = std::ldexp(1.0f, -61);
  spec.encoder.layers[0].feed_forward.in.weight = matrix;
  const Payload payload = float32_payload(spec);
  const uint32_t units = payload.metadata->encoder->layers[0]->feed_forward->in->weights;
  EXPECT_EQ(weight(payload, units, pad16(matrix->columns), 0, 3), 0.0f);
  matrix->values.edit()[matrix->columns + 2] = 65537.0f;
  test::expect_error([&] { float32_payload(spec); }, {"'encoder.layers.0.in'", "row 1", "element 2", "65537", "65536"});
}

// A float32 file is the same for every processor, and its hash is that of its weights.
TEST(BuildFloat32, AnotherProcessorChangesNothing) {
  const FileImage image = assemble(float32_payload(test::random_spec(3)), {});
  const FileImage again = relay_out(image, Layout::kN4K16, "a.gcst");
  ASSERT_EQ(again.size(), image.size());
  EXPECT_EQ(std::memcmp(again.bytes(), image.bytes(), image.size()), 0);
}

TEST(Budget, NumbersAndSuffixes) {
  const Budget both = parse_budget("arena=48K,file=2M");
  EXPECT_EQ(both.arena_bytes, 48u << 10);
  EXPECT_EQ(both.file_bytes, 2u << 20);
  EXPECT_EQ(parse_budget("file=1,arena=0").arena_bytes, 0u);
  const Budget one = parse_budget("file=18446744073709551615");
  EXPECT_EQ(one.file_bytes, UINT64_MAX);
  EXPECT_FALSE(one.arena_bytes);
}

TEST(Budget, AnythingElseIsRefused) {
  for (const char* text : {"", ",", "arena", "arena=1,", ",arena=1", "arena=1,,file=1", "arena=1,arena=1", "stack=1",
           "arena =1", "arena=1;file=2"})
    test::expect_error([&] { parse_budget(text); }, {std::string("'") + text + "'", "expected"}, text);
  for (const char* size :
      {"", "-1", "+1", "1.5M", "1k", "1KB", "K", " 1", "0x10", "18446744073709551616", "17592186044416M"})
    test::expect_error([&] { parse_budget(std::string("file=") + size); }, {"is not a size"}, size);
}

TEST(Budget, EachNumberThatIsExceeded) {
  const Budget budget = parse_budget("arena=100,file=200");
  BoardDemand demand = {200, {}, [](const goldcrest_limits& limits) -> uint64_t {
                          return 40 + 10 * limits.beam_size + limits.max_source_tokens + limits.max_target_tokens;
                        }};
  demand.memory.limits.max_source_tokens = demand.memory.limits.max_target_tokens = 17;
  demand.memory.limits.beam_size = demand.memory.limits.batch = demand.memory.limits.encoder_rows = 1;
  const auto over = [&](uint64_t arena_bytes, uint64_t file_bytes) {
    demand.memory.arena_bytes = arena_bytes;
    demand.file_bytes = file_bytes;
    return over_budget(budget, demand);
  };
  EXPECT_EQ(over(100, 200), "");
  demand.memory.limits.beam_size = 3;
  EXPECT_EQ(
      over(104, 200), "the arena needs 104 bytes, 4 more than --budget arena=100\nthe arena fits with --beam-size 1\n");
  demand.memory.limits.max_source_tokens = demand.memory.limits.max_target_tokens = 57;
  EXPECT_EQ(over(184, 264),
      "the arena needs 184 bytes, 84 more than --budget arena=100\n"
      "the file needs 264 bytes, 64 more than --budget file=200\n"
      "the arena fits with --max-source 25 --max-target 25 --beam-size 1\n");
  demand.arena_bytes = [](const goldcrest_limits&) { return uint64_t{101}; };
  EXPECT_EQ(
      over(101, 200), "the arena needs 101 bytes, 1 more than --budget arena=100\nno limits make the arena fit\n");
  demand.memory.arena_bytes = UINT64_MAX;
  EXPECT_EQ(over_budget({}, demand), "");
}
}}  // namespace goldcrest::converter
