// SPDX-License-Identifier: Apache-2.0
// goldcrest-inspect: its output, the memory map, and a self-test that notices another model's numbers.
#include "convert/support/arena_formula.h"
#include "convert/support/ctranslate2_folder.h"
#include "convert/support/shipped_model.h"
#include "convert/support/toolkit_folder.h"
#include "host/model_memory.h"
#include "model_generated.h"
#include "programs/models.h"
#include "report/memory_map.h"

namespace goldcrest::test { namespace {
Outcome run_inspect(const std::filesystem::path& model, const Arguments& options = {}) {
  return run(inspect_program(), concat({model}, options));
}

class Model {
 public:
  explicit Model(const std::filesystem::path& path) {
    if (!file_.open(path).empty()) throw std::runtime_error("cannot map " + path.string());
  }
  std::span<const uint8_t> span() const { return {static_cast<const uint8_t*>(file_.bytes()), file_.size()}; }
 private:
  MappedFile file_;
};

TEST(Inspect, TellsWhatTheFileHoldsAndWhereItCameFrom) {
  const Outcome g2p = with_status(0, run_inspect(converted_model("g2p")));
  EXPECT_EQ(g2p.err, "");
  const std::string size = std::to_string(std::filesystem::file_size(converted_model("g2p")));
  for (const std::string& words : {"file         " + size + " bytes, format version 1, weights hash ",
           std::string("name         g2p\n"), std::string("languages    en -> ARPAbet\n"),
           std::string("licence      BSD-2-Clause\n"), std::string("attribution  Trained on CMUdict"),
           std::string("made from    nn_transformer checkpoint, sha256 "), std::string("made by      0.1.0\n"),
           std::string("encoder      3 layers, d_model 128, d_ff 512, 4 heads, vocabulary 31, 64 positions\n"),
           std::string("decoder      2 layers, d_model 128, d_ff 512, 4 heads, vocabulary 73, 64 positions\n"),
           std::string("text         tokenizer, detokenizer\n"),
           std::string("ids          start 1, end 2, padding 0, unknown 3\n"), std::string("arena        ")})
    EXPECT_TRUE(has(g2p.out, words)) << words << "\nin\n" << g2p.out;
  EXPECT_FALSE(has(g2p.out, "self-test"));
  EXPECT_FALSE(has(g2p.out, "fixed = "));
  const Outcome enfr = run_inspect(converted_model("enfr"));
  EXPECT_TRUE(has(enfr.out, "search       beam size 4, at most 127 tokens, length penalty 1, word penalty 0\n"));
  EXPECT_TRUE(has(enfr.out, "languages    en -> fr\n"));
  // 3080 normalized bytes with pieces of at most 18, and 1025 places with rules
  EXPECT_TRUE(has(enfr.out, "tokenizing   at most 458280 steps\n"));
}

TEST(Inspect, PrintsThePlanOfTheLimitsGiven) {
  for (const char* task : {"g2p", "enfr"}) {
    const Model model(converted_model(task));
    Rng rng(41);
    for (int i = 0; i < 12; ++i) {
      goldcrest_limits limits = {.max_source_tokens = rng.between(1, 64),
          .max_source_bytes = rng.between(1, 1000),
          .max_target_tokens = rng.between(1, 64),
          .beam_size = rng.between(1, 16),
          .batch = rng.between(1, 8),
          .encoder_rows = rng.between(1, 64)};
      const Outcome outcome = run_inspect(converted_model(task),
          {"--map", "--max-source", std::to_string(limits.max_source_tokens), "--max-source-bytes",
              std::to_string(limits.max_source_bytes), "--max-target", std::to_string(limits.max_target_tokens),
              "--beam-size", std::to_string(limits.beam_size), "--batch", std::to_string(limits.batch),
              "--encoder-rows", std::to_string(limits.encoder_rows)});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const converter::MemoryMap map = converter::map_memory(model.span(), limits, task);
      const std::string bytes = std::to_string(map.memory.arena_bytes);
      EXPECT_TRUE(has(outcome.out, "arena        " + bytes + " bytes for "));
      EXPECT_EQ(ArenaFormula(outcome.out).evaluate(map.memory.limits), map.memory.arena_bytes);
      EXPECT_TRUE(has(outcome.out, converter::picture(map)));
    }
  }
}

TEST(Inspect, TheSelfTestPasses) {
  for (const char* task : {"g2p", "enfr"}) {
    const Outcome outcome = with_status(0, run_inspect(converted_model(task), {"--self-test"}));
    EXPECT_TRUE(has(outcome.out, "self-test    passed with kernels "));
  }
}

std::vector<converter::SelfTestLine> self_test_of(const Model& file) {
  std::vector<converter::SelfTestLine> lines;
  const format::Model* model = format::GetModel(file.span().data());
  for (const format::SelfTestLine* line : *model->self_test()) {
    lines.push_back({{line->source()->begin(), line->source()->end()}, {line->target()->begin(), line->target()->end()},
        (uint64_t{line->hash_high()} << 32) | line->hash_low()});
  }
  return lines;
}

// Changes element [0, 0] of the output projection; sums and checksums are right.
converter::FileImage with_another_weight(const ShippedModel& model, std::span<const converter::SelfTestLine> lines) {
  converter::Payload payload = converter::build_payload(model.spec, {});
  const format::LinearT& projection = *payload.metadata->projection;
  using Kind = format::SectionKind;
  uint8_t& weight = payload.sections[static_cast<size_t>(Kind::Weights)].at(uint64_t{projection.weights} * 64);
  uint8_t* sum_bytes =
      &payload.sections[static_cast<size_t>(Kind::Parameters)].at(uint64_t{projection.weight_sum} * 64);
  const int change = static_cast<int8_t>(weight) > 0 ? -64 : 64;
  weight = static_cast<uint8_t>(weight + change);
  int32_t sum = 0;
  std::memcpy(&sum, sum_bytes, sizeof sum);
  sum += change;
  std::memcpy(sum_bytes, &sum, sizeof sum);
  return converter::assemble(payload, lines);
}

TEST(Inspect, TheSelfTestFindsAnotherWeight) {
  const TemporaryFolder folder;
  const Model good(converted_model("g2p"));
  const std::vector<converter::SelfTestLine> lines = self_test_of(good);
  ASSERT_EQ(lines.size(), 3u);
  const ShippedModel& model = shipped_model("g2p");

  // Without the change, the same assembly gives the converter's own file.
  const converter::FileImage again =
      converter::assemble(model.payload, lines, converter::metadata_bytes_of_any_weights(model.payload, lines));
  EXPECT_TRUE(std::ranges::equal(again.span(), good.span()));

  converter::write_file(folder / "changed.gcst", with_another_weight(model, lines).span());
  EXPECT_EQ(run_inspect(folder / "changed.gcst").status, 0);
  const Outcome first = with_status(1, run_inspect(folder / "changed.gcst", {"--self-test"}));
  EXPECT_TRUE(has(first.out, "self-test    FAILED: "));
  EXPECT_TRUE(has(first.out, "self_test: another result than the converter's (0)"));

  // Only the last line is wrong, and the message names it.
  std::vector<converter::SelfTestLine> last_is_wrong = lines;
  last_is_wrong[2].hash ^= 1;
  converter::write_file(folder / "last.gcst", converter::assemble(model.payload, last_is_wrong).span());
  const Outcome last = with_status(1, run_inspect(folder / "last.gcst", {"--self-test"}));
  EXPECT_TRUE(has(last.out, "another result than the converter's (2)"));
}

TEST(Inspect, RefusesWhatIsNoModel) {
  const TemporaryFolder folder;
  const std::string good = read_file(converted_model("g2p"));
  struct Case {
    const char* name;
    std::string bytes, words;
  };
  std::string damaged = good;
  damaged[good.size() / 2] = static_cast<char>(damaged[good.size() / 2] ^ 1);
  const Case cases[] = {{"empty.gcst", "", "not a file with content"}, {"text.gcst", std::string(4096, 'a'), "corrupt"},
      {"short.gcst", good.substr(0, good.size() - 64), "corrupt"}};
  for (const Case& c : cases) {
    const Outcome outcome = run_inspect(folder.write(c.name, c.bytes));
    EXPECT_EQ(outcome.status, 1) << c.name;
    EXPECT_EQ(outcome.out, "") << c.name;
    EXPECT_TRUE(has(outcome.err, c.name) && has(outcome.err, c.words)) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  }
  // Reading only the metadata need not find a damaged weight; the self-test does.
  const Outcome outcome = with_status(1, run_inspect(folder.write("damaged.gcst", damaged), {"--self-test"}));
  EXPECT_TRUE(has(outcome.out, "checksum")) << outcome.out << outcome.err;
}

TEST(Inspect, BadUsage) {
  EXPECT_EQ(run_inspect(converted_model("g2p"), {"--no-such-option"}).status, 2);
  EXPECT_EQ(run(inspect_program(), {}).status, 2);
  EXPECT_EQ(run_inspect("/no/such/file.gcst").status, 1);
  EXPECT_EQ(run_inspect(std::filesystem::temp_directory_path()).status, 1);
  const Outcome beams = with_status(2, run_inspect(converted_model("g2p"), {"--beam-size", "17"}));
  EXPECT_TRUE(has(beams.err, "--beam-size: Value 17 not in range 0 to 16"));
  EXPECT_TRUE(has(with_status(0, run(inspect_program(), {"--help"})).out, "Exit status: "));
  EXPECT_EQ(run(inspect_program(), {"--version"}).out, "goldcrest-inspect " GOLDCREST_VERSION "\n");
}

TEST(Inspect, AFullDeviceIsAnError) {
  const Outcome outcome = with_status(1, run(inspect_program(), {converted_model("g2p")}, {.output = Output::kFull}));
  EXPECT_TRUE(has(outcome.err, "standard output"));
}

// goldcrest-convert on Marian's own files: a folder, its file, and the message about a damaged one.

const NativeShape kNativeShape = {12, 8, 16, 2, 1, 1, false};

std::string vocabulary() {
  std::string text = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 12; ++id) text += "word" + std::to_string(id) + ": " + std::to_string(id) + "\n";
  return text;
}

void write_model(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  folder.write("vocab.yml", vocabulary());
  folder.write("decoder.yml", "models: [" + name + "]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: 2\nnormalize: 1\n");
  folder.write(name, bytes);
}

TEST(Native, AFolderAndItsFileGiveTheSameModel) {
  const std::vector<NamedTensor> tensors = native_tensors(kNativeShape, 1);
  const std::string settings = native_settings(kNativeShape);
  const std::pair<const char*, std::string> models[] = {{"model.npz", npz_bytes(tensors, settings, true)},
      {"model.bin", binary_bytes(binary_items(tensors, settings, BinaryKind::kInt8WithAlphas))}};
  for (const auto& [name, bytes] : models) {
    const TemporaryFolder folder;
    write_model(folder, name, bytes);
    const Outcome whole = convert(folder.path(), {"-o", folder / "a.gcst"});
    const Outcome file = run(convert_program(), {"-q", name, "-o", "b.gcst"}, {.folder = folder.path()});
    EXPECT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(file.status, 0) << file.err;
    EXPECT_EQ(whole.err, "");
    EXPECT_EQ(read_file(folder / "a.gcst").size(), read_file(folder / "b.gcst").size());
    const Outcome translated =
        with_status(0, run(translate_program(), {folder / "a.gcst"}, {.input = "word3 word7 other\n"}));
    EXPECT_FALSE(has(translated.out, "\u2047"));  // <unk> is never chosen EXPECT_TRUE(has(run(inspect_program(),
                                                  // {folder / name}).err, ": this is a Marian model"));
  }
}

TEST(Native, ADamagedFileIsNamed) {
  const TemporaryFolder folder;
  const std::string bytes =
      binary_bytes(binary_items(native_tensors(kNativeShape, 1), native_settings(kNativeShape), BinaryKind::kInt8));
  write_model(folder, "model.bin", bytes.substr(0, bytes.size() - 1));
  const size_t settings = native_settings(kNativeShape).size() + 1;
  EXPECT_EQ(convert(folder.path(), {}).err,
      "goldcrest-convert: " + (folder / "model.bin").string() + ": tensor \"special:model.yml\": has " +
          std::to_string(settings) + " bytes at byte " + std::to_string(bytes.size() - settings) + " of a file of " +
          std::to_string(bytes.size() - 1) + ": it is truncated or damaged; download it again\n");
  folder.write("model.bin", bytes);
  folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: [1]\n");
  EXPECT_EQ(convert(folder.path(), {}).err,
      "goldcrest-convert: " + (folder / "decoder.yml").string() +
          ": setting \"beam-size\" is a JSON array, expected an integer from 1 to 1000\n");
}

// Runs the commands of OPENNMT_PY.md and FAIRSEQ.md, and translates texts with their models.

std::string page(const char* name) {
  return read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "converter/dialects" / name);
}

// Runs the commands of CTRANSLATE2.md.
TEST(CTranslate2, ThePagesCommandsConvertAFolderAndAPackage) {
  const Package package;
  const std::filesystem::path zip = package.write_zip(package.entries());
  std::filesystem::rename(zip, package.checkpoint.folder / "translate-en_es-1_0.argosmodel");
  const CTranslate2Folder checkpoint;
  checkpoint.write();
  std::filesystem::create_directory_symlink(checkpoint.folder.path(), package.checkpoint.folder / "FOLDER");
  const std::vector<std::string> commands = commands_of("converter/dialects/CTRANSLATE2.md");
  EXPECT_EQ(commands.size(), 2u);
  for (const std::string& command : commands) {
    const std::string path = convert_program().parent_path();
    const Outcome converted =
        run("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\" " + command}, {.folder = package.checkpoint.folder.path()});
    EXPECT_TRUE(has(with_status(0, converted).out, " (ctranslate2)")) << converted.out;
  }
}

TEST(Toolkit, ThePagesCommandsConvertThem) {
  const std::string path = convert_program().parent_path();
  for (const bool is_fairseq : {false, true}) {
    ToolkitFolder checkpoint({.is_fairseq = is_fairseq});
    if (!is_fairseq)
      for (size_t id = 0; id < 4; ++id) checkpoint.tensors["generator.bias"].values[id] = -9;  // makes words likelier
    const char* const name = is_fairseq ? "checkpoint_best.pt" : "model_step_20000.pt";
    const std::string command = "goldcrest-convert " + std::string(name) + " -o model.gcst";
    EXPECT_TRUE(has(page(is_fairseq ? "FAIRSEQ.md" : "OPENNMT_PY.md"), "\n    " + command));
    checkpoint.write();
    std::filesystem::rename(checkpoint.weights(), checkpoint.folder / name);
    const Outcome converted =
        run("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\" " + command}, {.folder = checkpoint.folder.path()});
    ASSERT_EQ(converted.status, 0) << converted.err;
    const std::string warning = "\ngoldcrest-convert: warning: " + std::string(name) +
                                ": there is no SentencePiece model next to it: a text is a list of entries of " +
                                (is_fairseq ? "dict.de.txt" : "its vocabulary") +
                                ", separated by spaces\ngoldcrest-convert: 1 warning\n";
    EXPECT_TRUE(converted.err.ends_with(warning)) << converted.err;
    EXPECT_TRUE(has(converted.out, std::string(name) + (is_fairseq ? " (fairseq)" : " (opennmt_py)")));

    // A text becomes its words' ids; fairseq appends its end.
    const std::string file = checkpoint.folder / "model.gcst";
    const Outcome text = run(translate_program(), {file, "--max-target", "6"}, {.input = "a b nowhere\n"});
    const Outcome ids =
        run(translate_program(), {file, "--max-target", "6", "--ids"}, {.input = is_fairseq ? "4 5 3 2\n" : "4 5 0\n"});
    ASSERT_EQ(text.status, 0) << text.err;
    const std::vector<std::string> words = {"x", "y", "z"};
    std::string expected;
    std::istringstream stream(ids.out);
    for (size_t id; stream >> id;) {
      if (id < 4 && id != (is_fairseq ? 3 : 0)) continue;
      expected += (expected.empty() ? "" : " ") + (id < 4 ? "\u2047" : words.at(id - 4));
    }
    EXPECT_FALSE(expected.empty()) << ids.out;
    EXPECT_EQ(text.out, expected + "\n") << ids.out;
  }
}

// From a checkpoint with codes of subword-nmt to ids and back, with the whole vocabulary and with a part of it: outputs
// and messages of the programs.

struct SubwordFolder : CTranslate2Folder {
  SubwordFolder() {
    vocabulary = {"</s>", "<unk>", "a@@", "b@@", "ab@@", "a", "b", "ab", "bab", "c", ">>fr<<", "c@@"};
    folder.write("bpe.codes", "#version: 0.2\na b</w>\na b\nb ab</w>\n");
    write();
  }
  // Converts and returns the warnings.
  std::vector<std::string> convert(const Arguments& options) const {
    const Outcome outcome = test::convert(folder.path(), concat({"--json", "-o", file("model.gcst")}, options));
    return nlohmann::json::parse(with_status(0, outcome).out).at("warnings");
  }
  std::string translate(const std::string& option, const std::string& lines) const {
    return with_status(0, run(translate_program(), {file("model.gcst"), option}, {.input = lines})).out;
  }
};

TEST(Subword, FromTextToIdsAndBack) {
  const SubwordFolder checkpoint;
  EXPECT_EQ(checkpoint.convert({}), std::vector<std::string>{});
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab  bab ba\nacd\r\n"), "10 4 7 8 3 5 0\n2 11 1 0\n");
  EXPECT_EQ(checkpoint.translate("--decode", "4 7 8 3 5 0\n2 11 1 9 0\n2\n"), "abab bab ba\nac\u2047 c\na\n");
  EXPECT_TRUE(has(with_status(0, run(inspect_program(), {checkpoint.file("model.gcst"), "--self-test"})).out,
      "\ntext         tokenizer, detokenizer\n"
      "             words between spaces, cut by subword-nmt's merges\n"));
}

TEST(Subword, APartOfTheVocabulary) {
  const SubwordFolder checkpoint;
  checkpoint.folder.write("kept", "a@@\nb@@\nb\nc\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary", checkpoint.file("kept")}),
      std::vector<std::string>{"2 of the source's 6 single characters are not kept; texts lose them: \"a\", \"c@@\""});
  // </s>, <unk>, a@@, b@@, b, c, >>fr<<: the model splits ab and bab again.
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab bab c\n"), "6 2 3 2 4 3 2 4 5 0\n");
  checkpoint.folder.write("text", "bab ca\tbab\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary-of", checkpoint.file("text")}),
      std::vector<std::string>{"1 of the source's 6 single characters are not kept; texts lose them: \"c\""});
  EXPECT_EQ(checkpoint.translate("--encode", "bab ca ab\n"), "6 8 4 2 5 0\n");
}
}}  // namespace goldcrest::test
