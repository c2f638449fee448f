// SPDX-License-Identifier: Apache-2.0
// Large checkpoints: one of OPUS-MT's real shape and vocabulary gives the same model from both containers, in under a
// minute. One with NLLB's vocabulary is converted and translated in little memory.
#include <bit>
#include <chrono>
#include <nlohmann/json.hpp>
#include "goldcrest/languages.h"
#include "model/model_view.h"
#include "programs/memory.h"
#include "programs/models.h"
#include "support/engine_fixture.h"
#include "support/marian_tensors.h"

namespace goldcrest::test { namespace {
constexpr double kMaxSecondsToConvert = 60;

struct Converted {
  std::string bytes, checkpoint_sha256;
};

// Both folders have the same name, which becomes the model's name.
Converted convert(const TemporaryFolder& folder, const std::string& container) {
  const std::filesystem::path checkpoint = folder / container / "opus", model = folder / (container + ".gcst");
  const Outcome made = with_status(0, run(GOLDCREST_MAKE_OPUS_PROGRAM, {checkpoint, container}));
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run(convert_program(), {"-q", "--json", checkpoint, "-o", model});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(seconds, kMaxSecondsToConvert);
  expect_lean(outcome, checkpoint, model);
  ::testing::Test::RecordProperty("seconds_" + container, std::to_string(seconds));
  const nlohmann::json report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report.at("encoder").at("layers"), 6);
  EXPECT_EQ(report.at("decoder").at("d_ff"), 2048);
  return {read_file(model), report.at("checkpoint_sha256")};
}

TEST(Opus, BothContainersGiveTheSameModel) {
  const TemporaryFolder folder;
  const Converted safetensors = convert(folder, "safetensors"), zip = convert(folder, "bin");
  ASSERT_NE(safetensors.checkpoint_sha256, zip.checkpoint_sha256);

  // The two files have different hashes, so only the checksums of the metadata and of the trailer may differ
  // (FORMAT.md, section 1).
  std::string expected = safetensors.bytes, found = zip.bytes;
  const size_t at = expected.find(safetensors.checkpoint_sha256);
  ASSERT_NE(at, std::string::npos);
  expected.replace(at, zip.checkpoint_sha256.size(), zip.checkpoint_sha256);
  ASSERT_EQ(expected.size(), found.size());
  const size_t trailer = found.size() - 64;
  for (const auto& [offset, size] : {std::pair(24, 4), std::pair(60, 4)}) {
    expected.replace(trailer + static_cast<size_t>(offset), static_cast<size_t>(size), static_cast<size_t>(size), '\0');
    found.replace(trailer + static_cast<size_t>(offset), static_cast<size_t>(size), static_cast<size_t>(size), '\0');
  }
  EXPECT_TRUE(expected == found);

  for (const char* name : {"safetensors.gcst", "bin.gcst"}) {
    const Outcome outcome =
        with_status(0, run(translate_program(), {folder / name, "--max-target", "20"}, {.input = "How are you?\n"}));
    EXPECT_EQ(lines_of(outcome.out).size(), 1u);
    EXPECT_GT(outcome.out.size(), 1u) << "some text, although weights are random";
    EXPECT_EQ(run(inspect_program(), {folder / name, "--self-test"}).status, 0);
  }
}

// Memory of a conversion: the largest tensor as float32, a third of that for all else, and the file.
TEST(Memory, OneTensorOfACheckpointAtATime) {
  const TemporaryFolder folder;
  const std::filesystem::path checkpoint = folder / "opus", model = folder / "opus.gcst";
  ASSERT_EQ(run(GOLDCREST_MAKE_OPUS_PROGRAM, {checkpoint, "safetensors"}).status, 0);
  const Outcome outcome = run(convert_program(), {"-q", checkpoint, "-o", model});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  expect_lean(outcome, checkpoint, model);
}

// NLLB's vocabulary, 256,206 rows, in a narrow model with seeded random weights.
constexpr MarianShape kManyRows = {256206, 64, 1, 1, 4, 4, 128, 128, 256};
constexpr uint32_t kPieces = 256000;

std::string protobuf_field(uint64_t number, const std::string& bytes) {
  std::string field;
  for (uint64_t value : {number << 3 | 2, uint64_t{bytes.size()}}) {
    for (; value >= 0x80; value >>= 7) field += static_cast<char>((value & 0x7F) | 0x80);
    field += static_cast<char>(value);
  }
  return field + bytes;
}

// Returns the text of a made-up piece: U+2581 and the number in letters, so that all texts differ; first the letters.
std::string text_of_piece(uint32_t i) {
  if (i < 26) return {static_cast<char>('a' + i)};
  std::string letters;
  for (uint32_t rest = i; rest > 0; rest /= 26) letters += static_cast<char>('a' + rest % 26);
  return "\xe2\x96\x81" + letters;
}

std::string many_pieces() {
  std::string model;
  for (uint32_t id = 0; id < kPieces; ++id) {
    const char* const special[] = {"<unk>", "<s>", "</s>"};
    const uint32_t score = std::bit_cast<uint32_t>(-1.0f - static_cast<float>(id) / 65536);
    std::string piece = protobuf_field(1, id < 3 ? special[id] : text_of_piece(id - 3)) + "\x15";
    for (int shift = 0; shift < 32; shift += 8) piece += static_cast<char>(score >> shift);
    if (id < 3) piece += id == 0 ? "\x18\x02" : "\x18\x03";
    model += protobuf_field(1, piece);
  }
  return model + protobuf_field(2, {"\x18\x01", 2}) + protobuf_field(3, "");
}

void write_many_rows(const TemporaryFolder& folder) {
  std::vector<NamedTensor> tensors = marian_tensors(kManyRows, 3);
  tensors.pop_back();  // final_logits_bias
  for (const char* stack : {"encoder", "decoder"}) {
    const std::string norm = std::string("model.") + stack + ".layer_norm.";
    tensors.push_back({norm + "weight", {kManyRows.d_model}, std::vector<float>(kManyRows.d_model, 1.0f)});
    tensors.push_back({norm + "bias", {kManyRows.d_model}, std::vector<float>(kManyRows.d_model)});
  }
  std::ofstream stream(folder / "model.safetensors", std::ios::binary);
  write_safetensors(stream, tensors, converter::ElementType::kF32);
  ASSERT_TRUE(stream.flush());
  folder.write("config.json", R"({"model_type": "m2m_100", "activation_function": "relu", "vocab_size": 256206,
      "d_model": 64, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4,
      "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "max_position_embeddings": 256,
      "decoder_start_token_id": 2, "eos_token_id": 2, "pad_token_id": 1, "max_length": 64})");
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "NllbTokenizer",
      "additional_special_tokens": ["eng_Latn", "fra_Latn", "deu_Latn"], "src_lang": "eng_Latn",
      "tgt_lang": "fra_Latn"})");
  folder.write("sentencepiece.bpe.model", many_pieces());
}

// The logits of a text's first two positions, by the text of their entry.
std::map<std::string, std::vector<float>> logits_of(const std::filesystem::path& file, const std::string& text) {
  const std::string read = read_file(file);
  GuardedBuffer<uint8_t> model(read.size());
  std::copy(read.begin(), read.end(), model.begin());
  std::vector<float> logits[2];
  EngineSetup setup = {
      .limits = {.max_source_tokens = 32, .max_source_bytes = 64, .max_target_tokens = 32}, .trace_context = logits};
  setup.trace = [](void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t count) {
    if (std::string(name) != "logits" || row > 1) return;
    std::vector<float>& of_row = static_cast<std::vector<float>*>(context)[row];
    of_row.insert(of_row.end(), values, values + count);
  };
  TestEngine engine({model.get(), model.size()}, setup);
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.max_target_tokens = search.min_target_tokens = 3;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  EXPECT_EQ(goldcrest_begin_text(engine.get(), text.data(), text.size()), 0) << engine.detail().message;
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  DetokenizerView pieces = {};
  EXPECT_TRUE(view_detokenizer(model.get(), &pieces));
  std::map<std::string, std::vector<float>> found;
  for (uint32_t id = 0; id < pieces.n_pieces; ++id) {
    const std::string piece(pieces.text + pieces.text_offset[id], pieces.text + pieces.text_offset[id + 1]);
    if (!piece.empty()) found[piece] = {logits[0].at(id), logits[1].at(id)};
  }
  return found;
}

// A conversion takes 4/3 of the largest tensor, the file and 32 MB. A translation takes the file, the arena and 64 MB.
TEST(Memory, OfAVocabularyOf256206Rows) {
  const TemporaryFolder checkpoint, files;
  write_many_rows(checkpoint);
  const std::string whole = files / "whole.gcst", trimmed = files / "trimmed.gcst";
  const Outcome converted = run(convert_program(), {"-q", checkpoint.path(), "-o", whole});
  ASSERT_EQ(converted.status, 0) << converted.err;
  const uint64_t largest = uint64_t{kManyRows.vocab_size} * kManyRows.d_model * sizeof(float);
  const uint64_t file = std::filesystem::file_size(whole);
  EXPECT_LE(converted.most_bytes, largest * 4 / 3 + file + (32 << 20)) << "largest " << largest << ", file " << file;
  RecordProperty("converted_bytes", std::to_string(converted.most_bytes));

  const std::string text = text_of_piece(4000).substr(3) + " " + text_of_piece(70000).substr(3) + " fghij\n";
  const Arguments options = {whole, "--max-source", "32", "--max-target", "32", "--beam-size", "4", "--batch", "1"};
  const Outcome planned =
      run(inspect_program(), {whole, "--max-source", "32", "--max-target", "32", "--beam-size", "4"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  const size_t at = planned.out.find("\narena ");
  ASSERT_NE(at, std::string::npos) << planned.out;
  const uint64_t arena = std::stoull(planned.out.substr(at + 7));
  const Outcome unlimited = run(translate_program(), options, {.input = text});
  ASSERT_EQ(unlimited.status, 0) << unlimited.err;
  RunOptions limited = {.input = text};
  limited.max_address_bytes = file + arena + (64 << 20);
  EXPECT_EQ(with_status(0, run(translate_program(), options, limited)).out, unlimited.out);
  RecordProperty("file_bytes", std::to_string(file));
  RecordProperty("arena_bytes", std::to_string(arena));

  const std::string kept = files.write("kept.txt", text);
  const Outcome smaller =
      run(convert_program(), {"-q", checkpoint.path(), "-o", trimmed, "--keep-vocabulary-of", kept});
  ASSERT_EQ(smaller.status, 0) << smaller.err;
  EXPECT_LT(std::filesystem::file_size(trimmed), file / 4);
  const auto all = logits_of(whole, text.substr(0, text.size() - 1)),
             few = logits_of(trimmed, text.substr(0, text.size() - 1));
  EXPECT_GT(few.size(), 4u);
  EXPECT_LT(few.size(), 1000u);
  for (const auto& [piece, logits] : few) EXPECT_TRUE(all.contains(piece) && all.at(piece) == logits) << piece;
}
}}  // namespace goldcrest::test
