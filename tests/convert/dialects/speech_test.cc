// SPDX-License-Identifier: Apache-2.0
// Moonshine and Whisper: small random checkpoints of transformers 5.23 with what it computed from them
// (tests/peers/speech.py --record).
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "evaluate/check.h"
#include "evaluate/line_encoder.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using ClipIds = std::vector<uint32_t>;

const std::filesystem::path& speech_folders() {
  static const test::PackedFolders unpacked(test::recorded("speech.json"));
  return unpacked.path();
}

struct SpeechCopy : test::FolderCopy {
  explicit SpeechCopy(const char* family) : FolderCopy(speech_folders() / family) {}
};

ModelSpec load_speech(const std::filesystem::path& folder, const OpenChoices& options = {}) {
  return load_checkpoint(folder, {{}, {}, options});
}

bool mentions(const std::vector<std::string>& warnings, const std::string& text) {
  return std::ranges::any_of(warnings, [&](const std::string& warning) { return warning.find(text) != warning.npos; });
}

TEST(Speech, LayersAndResultsAreThoseOfTransformers) {
  for (const char* family : {"moonshine", "whisper"}) {
    const ModelSpec spec = load_speech(speech_folders() / family);
    const CheckReport report = check(Reference(spec), speech_folders() / family, {});
    EXPECT_TRUE(report.passed()) << family << "\n" << to_text(report);
    EXPECT_EQ(report.searches.size(), 2u) << family;
    EXPECT_EQ(report.tensors.size(), 9u) << family;  // a stem's, both embeds and norms, three layers, logits
  }
}

TEST(Speech, MoonshineTakesClipsOfAnyLength) {
  const ModelSpec usual = load_speech(speech_folders() / "moonshine"),
                  small = load_speech(speech_folders() / "moonshine", {2, ""});
  EXPECT_EQ(usual.encoder.positions.rows, 1248u);  // (480,000 - 895) / 384 + 1
  EXPECT_EQ(small.encoder.positions.rows, 82u);
  EXPECT_EQ(small.generation.max_target_tokens, 13u);           // 6.5 a second
  EXPECT_EQ(small.generation.rules.max_length_factor, 0.156f);  // 384 samples from row to row
  const ModelSpec wide = load_speech(speech_folders() / "moonshine", {2, "", 0, 13}),
                  open = load_speech(speech_folders() / "moonshine", {2, "", 0, 0});
  EXPECT_EQ(wide.generation.max_target_tokens, 26u);
  EXPECT_EQ(wide.generation.rules.max_length_factor, 0.312f);
  EXPECT_GT(open.generation.max_target_tokens, 26u);
  EXPECT_EQ(open.generation.rules.max_length_factor, 0.0f);
  EXPECT_FALSE(small.encoder.positions_used);
  EXPECT_TRUE(small.encoder.frontend->convolutions.back().linear.fine_input);
  test::expect_error([] { load_speech(speech_folders() / "moonshine", {0.05, ""}); }, {"--max-seconds 0.05", "0 rows"});
  const std::vector<int16_t> clip(894);
  test::expect_error([&] { Reference(small).encode(std::span<const int16_t>(clip)); }, {"too short", "894 samples"});
}

TEST(Speech, HeadsHaveColumnsThatTurnInHalves) {
  const ModelSpec spec = load_speech(speech_folders() / "moonshine");
  EXPECT_EQ(spec.encoder.d_head, 32u);  // 20, of which 8 turn: four pairs, filled up to 16
  EXPECT_EQ(spec.encoder.rotary->half, 16u);
  EXPECT_FLOAT_EQ(spec.encoder.attention_scale, 0.2236068f);  // 20^-0.5
  const float* const row = spec.encoder.rotary->table.row(3);
  EXPECT_NEAR(row[0], -0.9899925f, 1e-6f);  // cos 3
  EXPECT_NEAR(row[16], 0.1411200f, 1e-6f);  // sin 3
  EXPECT_EQ(row[4], 1.0f);
  EXPECT_EQ(row[20], 0.0f);
}

TEST(Speech, WhisperHasAPromptAndNoTimestamps) {
  const ModelSpec chosen = load_speech(speech_folders() / "whisper"),
                  french = load_speech(speech_folders() / "whisper", {0, "fr"});
  EXPECT_EQ(chosen.generation.prompt.first_choices, (ClipIds{260, 261, 262}));
  EXPECT_EQ(chosen.generation.prompt.forced_ids, (ClipIds{264, 268}));
  EXPECT_EQ(french.generation.prompt.first_choices, ClipIds{});
  EXPECT_EQ(french.generation.prompt.forced_ids, (ClipIds{261, 264, 268}));
  EXPECT_EQ(french.target_language, "fr");
  EXPECT_EQ(chosen.generation.prompt.first_suppressed_ids, (ClipIds{32, 258}));
  EXPECT_EQ(chosen.decoder.embedding->rows, 269u);
  EXPECT_TRUE(mentions(chosen.warnings, "2 entries of timestamps were left out"));
  EXPECT_TRUE(
      mentions(load_speech(speech_folders() / "whisper", {0.5, ""}).warnings, "a window of 25 rows: Whisper repeats"));
  test::expect_error(
      [] {
        load_speech(speech_folders() / "whisper", {0, "", 0, 13});
      },
      {"--ids-per-second 13", "Whisper", "--max-seconds"});
  test::expect_error([] { load_speech(speech_folders() / "whisper", {0, "fx"}); }, {"--language \"fx\"", "\"haw\""});
  test::expect_error(
      [] {
        load_speech(speech_folders() / "whisper", {2, ""});
      },
      {"--max-seconds 2", "100 rows", "50 positions"});
}

// The ids that WhisperGenerationMixin._retrieve_init_tokens of transformers 5.24 gives after the start, 259; kHeard
// stands for the language that it hears.
TEST(Speech, AWhispersOwnSettingsMakeItsPrompt) {
  constexpr uint32_t kHeard = 0;
  const Value null;
  struct Case {
    Value language, task, forced;
    ClipIds prompt;
  };
  const Case cases[] = {{"<|fr|>", "translate", null, {261, 263, 268}}, {"fr", null, null, {261, 264, 268}},
      {"french", null, null, {261, 264, 268}}, {"Hawaiian", "translate", null, {262, 263, 268}},
      {"ENGLISH", null, null, {260, 264, 268}},
      {"haw", "transcribe", Value::list({Value::list({1, 260})}), {262, 264, 268}},
      {null, "translate", null, {kHeard, 263, 268}},
      {null, "translate", Value::list({Value::list({1, 260})}), {kHeard, 263, 268}},
      {null, null, Value::list({Value::list({1, 261}), Value::list({2, 263}), Value::list({3, 268})}), {261, 263, 268}},
      {null, null, Value::list({Value::list({1, null}), Value::list({2, 263})}), {kHeard, 263, 268}},
      {null, null, Value::list({Value::list({1, null}), Value::list({2, 264})}), {kHeard, 264, 268}},
      {null, null, Value::list({Value::list({1, 262})}), {262, 268}}};
  for (const Case& c : cases) {
    const SpeechCopy copy("whisper");
    copy.set("generation_config.json", "language", c.language);
    copy.set("generation_config.json", "task", c.task);
    copy.set("generation_config.json", "forced_decoder_ids", c.forced);
    const PromptSpec prompt = load_speech(copy.path()).generation.prompt;
    ClipIds ids = prompt.forced_ids;
    if (!prompt.first_choices.empty()) ids.insert(ids.begin(), kHeard);
    EXPECT_EQ(ids, c.prompt) << write_json(Value::list({c.language, c.task, c.forced}));
    // The user's language comes first, with the checkpoint's task.
    const uint32_t task = c.task.is_text() && c.task.text() == "translate" ? 263 : 264;
    EXPECT_EQ(load_speech(copy.path(), {0, "en"}).generation.prompt.forced_ids, (ClipIds{260, task, 268}));
  }
  const auto refused = [](const char* key, const Value& value, const std::vector<std::string>& parts) {
    const SpeechCopy copy("whisper");
    copy.set("generation_config.json", key, value);
    test::expect_error([&] { load_speech(copy.path()); }, parts);
  };
  refused("language", "de", {"\"language\" is \"de\"", "\"en\", \"fr\", \"haw\""});
  refused("language", "german", {"\"language\" is \"german\"", "\"en\", \"fr\", \"haw\""});
  refused("task", "summarize", {"\"task\" is \"summarize\"", "\"transcribe\" or \"translate\""});
  refused("forced_decoder_ids", Value::list({Value::list({1, 260}), Value::list({3, 264})}),
      {"forced_decoder_ids", "no entry for position 2"});
  refused("lang_to_id", Value{{"<|fr|>", 262}}, {"lang_to_id", "\"fr\"", "261"});
}

// As WhisperForConditionalGeneration.generate of transformers 5.24: max_length counts new ids and min_length all, a
// prompt of three after the start too. A sequence has at most 24 ids, the positions. scale_embedding is read and scales
// nothing.
TEST(Speech, AWhispersLengthsCountItsPrompt) {
  const Value null;
  struct Case {
    Value max_length, max_new_tokens, min_length, min_new_tokens;
    uint32_t most, least;
  };
  const Case cases[] = {{24, null, null, null, 20, 0}, {448, null, null, null, 20, 0}, {20, null, null, null, 20, 0},
      {5, null, null, null, 5, 0}, {1, null, null, null, 1, 0}, {10, 6, 6, null, 6, 3}, {10, null, 2, null, 10, 0},
      {10, null, 9, 4, 10, 5}, {8, null, 8, null, 8, 5}};
  for (const Case& c : cases) {
    const SpeechCopy copy("whisper");
    const char* const file = "generation_config.json";
    copy.set(file, "max_length", c.max_length);
    copy.set(file, "max_new_tokens", c.max_new_tokens);
    copy.set(file, "min_length", c.min_length);
    copy.set(file, "min_new_tokens", c.min_new_tokens);
    const GenerationSpec generation = load_speech(copy.path()).generation;
    const std::string where = write_json(Value::list({c.max_length, c.max_new_tokens, c.min_length, c.min_new_tokens}));
    EXPECT_EQ(generation.max_target_tokens, c.most) << where;
    EXPECT_EQ(generation.min_target_tokens, c.least) << where;
  }
  const SpeechCopy scaled("whisper");
  scaled.set("config.json", "scale_embedding", true);
  EXPECT_EQ(load_speech(scaled.path()).decoder.embedding_scale, 1.0f);
}

// The entry 270, which was the last timestamp, is what the caller says.
void rename_last(const SpeechCopy& copy, const char* text) {
  Value added = converter::read_json_object(copy.path() / "added_tokens.json"), renamed = Value::map();
  for (const auto& [entry, id] : added.members()) renamed[id.natural() == 270 ? std::string(text) : entry] = id;
  std::ofstream(copy.path() / "added_tokens.json") << write_json(renamed);
}

TEST(Speech, EntriesAfterTheTimestampsStay) {
  for (const char* text : {"Gr\u00fcezi", "two words", "\u65e5\u672c", "Gold"}) {
    const SpeechCopy copy("whisper");
    rename_last(copy, text);
    const ModelSpec spec = load_speech(copy.path());
    EXPECT_EQ(spec.decoder.embedding->rows, 271u);
    EXPECT_EQ(spec.target_tokenizer->pieces[270].text, text);
    EXPECT_EQ(spec.target_tokenizer->pieces[270].type, PieceType::kByte);
    EXPECT_EQ(std::ranges::count(spec.generation.suppressed_ids, 269u), 1) << "the timestamp before it";
    EXPECT_TRUE(mentions(spec.warnings, "1 entries of timestamps are suppressed, because entries follow them"));
  }
  const SpeechCopy language("whisper");
  rename_last(language, "<|gsw|>");
  EXPECT_EQ(load_speech(language.path()).generation.prompt.first_choices, (ClipIds{260, 261, 262}))
      << "transformers chooses among lang_to_id only";
  language.set("generation_config.json", "lang_to_id", Value{{"<|en|>", 260}, {"<|gsw|>", 270}});
  EXPECT_EQ(load_speech(language.path()).generation.prompt.first_choices, (ClipIds{260, 270}));
  EXPECT_EQ(load_speech(language.path(), {0, "gsw"}).generation.prompt.forced_ids, (ClipIds{270, 264, 268}));
}

TEST(Speech, TimestampsThatAreAskedForAreLeftOutWithAWarning) {
  const SpeechCopy copy("whisper");
  copy.set("generation_config.json", "return_timestamps", true);
  EXPECT_TRUE(
      mentions(load_speech(copy.path()).warnings, "\"return_timestamps\" is true; results have timestamps only with"));
  EXPECT_FALSE(mentions(load_speech(speech_folders() / "whisper").warnings, "return_timestamps"));
}

TEST(Speech, PiecesAreBytes) {
  const TokenizerSpec whisper = *load_speech(speech_folders() / "whisper").target_tokenizer;
  EXPECT_EQ(whisper.pieces[32].text, " ");
  EXPECT_EQ(whisper.pieces[255].text, "\xff");
  EXPECT_EQ(whisper.pieces[256].text, " the");
  EXPECT_EQ(whisper.pieces[257].text, "\xc3\xa9");
  EXPECT_EQ(whisper.pieces[257].type, PieceType::kByte);
  EXPECT_EQ(whisper.pieces[261].type, PieceType::kControl);
  const TokenizerSpec moonshine = *load_speech(speech_folders() / "moonshine").target_tokenizer;
  EXPECT_EQ(moonshine.pieces[3].type, PieceType::kByte);
  EXPECT_EQ(moonshine.pieces[259].text, "\u2581w0");
  EXPECT_EQ(moonshine.pieces[279].type, PieceType::kControl);
}

TEST(Speech, OtherGraphsAreRefused) {
  struct Case {
    const char *family, *file, *key;
    Value value;
    std::vector<std::string> parts;
  };
  const Case cases[] = {{"moonshine", "config.json", "attention_bias", true, {"attention_bias", "expected false"}},
      {"moonshine", "config.json", "encoder_num_key_value_heads", 1, {"encoder_num_key_value_heads", "shared"}},
      {"moonshine", "config.json", "decoder_hidden_act", "celu", {"decoder_hidden_act", "celu"}},
      {"moonshine", "config.json", "rope_parameters", Value{{"rope_type", "yarn"}}, {"rope_type", "yarn", "default"}},
      {"moonshine", "tokenizer.json", "decoder", Value{{"type", "WordPiece"}}, {"WordPiece", "ByteFallback"}},
      {"whisper", "config.json", "num_mel_bins", 13, {"conv1.weight", "[60, 13, 3]"}},
      {"whisper", "generation_config.json", "no_timestamps_token_id", 3, {"no_timestamps_token_id", "268"}}};
  for (const Case& c : cases) {
    const SpeechCopy copy(c.family);
    copy.set(c.file, c.key, c.value);
    test::expect_error([&] { load_speech(copy.path()); }, c.parts);
  }
  const SpeechCopy none("whisper");
  std::filesystem::remove(none.path() / "vocab.json");
  test::expect_error([&] { load_speech(none.path()); }, {"vocab.json", "is missing", "tokenizer.json"});
}

TEST(Speech, ClipsAreWavFiles) {
  const test::TemporaryFolder folder;
  const std::string format("fmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0", 24);
  const std::string data("data\4\0\0\0\1\0\xfe\xff", 12), head("RIFF\0\0\0\0WAVE", 12);
  folder.write("good.wav", head + format + data);
  EXPECT_EQ(read_clip(folder / "good.wav", 16000), (std::vector<int16_t>{1, -2}));
  EXPECT_EQ(read_clip(folder / "good.wav", 8000).size(), 1u);
  folder.write("cut.wav", head + format + data.substr(0, 11));
  test::expect_error(
      [&] { read_clip(folder / "cut.wav", 16000); }, {"cut.wav", "bytes of samples more than the file has"});
  folder.write("none.wav", head + format);
  test::expect_error([&] { read_clip(folder / "none.wav", 16000); }, {"none.wav", "without a chunk"});
  folder.write("text.wav", "RIFX");
  test::expect_error([&] { read_clip(folder / "text.wav", 16000); }, {"text.wav", "RIFX", "ffmpeg", "-ar 16000"});
  EXPECT_EQ(spoken_words(" \"Mr. Quilter\" \u2014 is well-known!"), "mr quilter \u2014 is well known");
}

TEST(Speech, ShapesNeedNoWeights) {
  const ModelSpec whisper = load_shape(speech_folders() / "whisper/config.json", 1u << 24);
  EXPECT_EQ(whisper.decoder.embedding->rows, 269u);
  EXPECT_NO_THROW(Reference{whisper});
  const SpeechCopy bare("whisper");
  std::filesystem::remove(bare.path() / "vocab.json");
  EXPECT_NO_THROW(Reference{load_shape(bare.path() / "config.json", 1u << 24)});
  // large-v3 has 128 bands and a language more; a distilled one has fewer decoder layers.
  bare.set("config.json", "vocab_size", 51866);
  bare.set("config.json", "num_mel_bins", 128);
  bare.set("config.json", "decoder_layers", 1);
  const ModelSpec large = load_shape(bare.path() / "config.json", 1u << 24);
  EXPECT_EQ(large.generation.prompt.forced_ids, ClipIds{50364});
  EXPECT_EQ(large.decoder.embedding->rows, 50365u);
  EXPECT_EQ(large.encoder.frontend->channels, 128u);
  EXPECT_EQ(large.decoder.layers.size(), 1u);
  const ModelSpec moonshine = load_shape(speech_folders() / "moonshine/config.json", 1u << 24, {2, ""});
  EXPECT_EQ(moonshine.encoder.positions.rows, 82u);
  EXPECT_NO_THROW(Reference{moonshine});
}

TEST(Speech, SamplesThatAreMissingAreNamed) {
  const SpeechCopy copy("moonshine");
  const ModelSpec spec = load_speech(copy.path());
  std::ofstream(copy.path() / "results.jsonl") << "{\"samples\": 99999, \"greedy\": [5]}\n";
  test::expect_error([&] { check(Reference(spec), copy.path(), {}); }, {"samples.npy", "99999"});
  std::ofstream(copy.path() / "results.jsonl") << "{\"greedy\": [5]}\n";
  test::expect_error([&] { check(Reference(spec), copy.path(), {}); }, {"no \"samples\""});
  std::ofstream(copy.path() / "samples.npy") << "NUMPY";
  std::ofstream(copy.path() / "results.jsonl") << "{\"samples\": 9}\n";
  test::expect_error([&] { check(Reference(spec), copy.path(), {}); }, {"samples.npy", "not a NumPy array"});
}
}}  // namespace goldcrest::converter
