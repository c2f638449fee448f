// SPDX-License-Identifier: Apache-2.0
// A new user's first contact: any path, any file and any mistake ends in a model, or in one sentence on what to do.
#include <cctype>
#include <iterator>
#include <sstream>
#include "programs/checkpoint_copy.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using FrontDoor = InFolder;

TEST_F(FrontDoor, APathNeedsNoSlash) {
  const CheckpointCopy copy("g2p");
  const Outcome outcome =
      with_status(0, run(convert_program(), {"-q", "model.safetensors", "-o", "a.gcst"}, {.folder = copy.path()}));
  const Outcome whole = with_status(0, convert(copy.path(), {"-o", copy.file("b.gcst")}));
  EXPECT_EQ(read_file(copy.file("a.gcst")), read_file(copy.file("b.gcst")));
}

TEST_F(FrontDoor, BothProgramsSayWhatAFileIs) {
  const std::string path = folder.write("model.gguf", "GGUF").string();
  const std::string text = path +
                           ": this is a GGUF file of llama.cpp; its weights are quantized for another engine: convert "
                           "the original checkpoint\n";
  const Outcome converted = with_status(1, convert(path, {"-o", folder / "a.gcst"}));
  EXPECT_EQ(converted.err, "goldcrest-convert: " + text);
  EXPECT_EQ(with_status(1, run(inspect_program(), {path})).err, "goldcrest-inspect: " + text);
  EXPECT_EQ(run(inspect_program(), {checkpoint_folder("g2p")}).err,
      "goldcrest-inspect: " + (checkpoint_folder("g2p") / "model.safetensors").string() +
          ": this is a state dict of PyTorch's nn.Transformer; goldcrest-convert converts it to a .gcst file, with the "
          "config.json that goldcrest-convert --print-config begins\n");
}

// The message says this before anything about a trailer or a size.
TEST_F(FrontDoor, AFileThatIsNoModelIsSaidToBeNone) {
  for (const size_t size : {3u, 3000u, 4096u}) {
    const std::string path = folder.write("model.gcst", std::string(size, '\x01')).string();
    for (const auto& program : {convert_program(), inspect_program(), translate_program()}) {
      const Outcome outcome = with_status(1, run(program, {path}));
      EXPECT_TRUE(has(outcome.err, program.filename().string() + ": " + path + ": it is not a .gcst file"));
    }
  }
}

TEST_F(FrontDoor, WrongThingsAreNamed) {
  const auto message = [&](const std::string& input) {
    const Outcome outcome =
        with_status(1, run(convert_program(), {"-q", input, "-o", folder / "a.gcst"}, {.folder = folder / ""}));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.gcst"));
    return outcome.err;
  };
  const std::string page = folder.write("README.md", "# Model\nIt translates h\u00e9.\n").string();
  EXPECT_EQ(message(page),
      "goldcrest-convert: " + page + ": is text, not weights; expected a checkpoint's directory or its weight file\n");
  for (const char* magic : {"RIFF\1\1\1\1WAVE", "fLaC\1", "OggS\1"}) {
    const std::string sound = folder.write("sound", magic).string();
    EXPECT_TRUE(has(message(sound), sound + ": is sound, not weights")) << magic;
  }
  const CheckpointCopy adapter("g2p");
  adapter.remove("config.json");
  adapter.write("adapter_config.json", "{}");
  EXPECT_TRUE(
      has(message(adapter.path()), "(adapter_config.json) without the model's own weights: merge the adapter first"));
  for (const char* name : {"google/flan-t5-small", "https://huggingface.co/google/flan-t5-small"})
    EXPECT_TRUE(has(message(name), "hf download google/flan-t5-small --local-dir model"));
  for (const char* path : {"./model", "no/such/model", "/no/model", "../model", "model"})
    EXPECT_FALSE(has(message(path), "hf download")) << path;
  const std::string speech = random_speech_model("moonshine");
  EXPECT_TRUE(has(run(translate_program(), {speech}).err, "takes samples; goldcrest-transcribe runs models of speech"));
  EXPECT_TRUE(has(run(transcribe_program(), {converted_model("g2p")}).err, "goldcrest-translate runs models of text"));
  const std::string at_terminal = transcribe_program().string() + " " + speech;
  EXPECT_TRUE(has(run("/usr/bin/script", {"-qec", at_terminal, folder / "typescript"}, {.input = "\004"}).out,
      "goldcrest-transcribe: waiting for sound: a WAV file or samples"));
  for (const char* option : {"--board", "--evaluate", "--self-test"}) {
    const Outcome outcome =
        run(convert_program(), {"-q", GOLDCREST_SOURCE_DIR "/examples/models/g2p", option, folder / ""});
    EXPECT_TRUE(has(outcome.err, std::string(folder / "") + ": cannot be read")) << outcome.err;
  }
  const Outcome list = translate("enfr", {"--abbreviations", folder / ""}, "a\n");
  EXPECT_EQ(list.err, "goldcrest-translate: " + std::string(folder / "") + ": cannot be read: Is a directory\n");
}

// The decoding is that of the program which the page names, and the scripts compile nothing to explain themselves.
TEST_F(FrontDoor, PagesAndScriptsSayWhatRuns) {
  const std::string page = read_file(GOLDCREST_SOURCE_DIR "/converter/README.md");
  const std::string before = "`goldcrest-translate` has the paper's decoding (Vaswani et al. 2017): `";
  const size_t at = page.find(before);
  ASSERT_NE(at, std::string::npos);
  std::istringstream words(page.substr(at + before.size(), page.find("`.", at + before.size()) - at - before.size()));
  const std::vector<std::string> options{std::istream_iterator<std::string>(words), {}};
  EXPECT_EQ(options.size(), 8u);
  EXPECT_EQ(with_status(0, translate("enfr", options, "I'm hungry.\n")).out, "J'ai faim.\n");
  for (const auto& [script, text] : {std::pair{"quickstart.sh", "Installs missing packages, builds the programs"},
           {"firmware/run.sh", "Usage: bash examples/firmware/run.sh [PROGRAM [BOARD]]\n"}}) {
    const std::string path = std::string(GOLDCREST_SOURCE_DIR "/examples/") + script;
    const std::string said = with_status(0, run("/bin/bash", {path, "--help"})).out;
    EXPECT_TRUE(said.starts_with(text)) << said;
    const Outcome refused = run("/bin/bash", {path, "no-such-word"});
    EXPECT_NE(refused.status, 0);
    EXPECT_TRUE(has(refused.out + refused.err, said)) << refused.err;
  }
}

TEST_F(FrontDoor, TheSnapshotOfAHubsCacheIsFound) {
  const CheckpointCopy copy("g2p");
  const TemporaryFolder hub;
  const std::filesystem::path model = hub / "models--goldcrest--g2p";
  std::filesystem::create_directories(model / "snapshots");
  std::filesystem::create_directories(model / "refs");
  std::filesystem::copy(copy.path(), model / "snapshots/abc");
  const auto convert_hub = [&] { return convert(model, {"-o", copy.file("a.gcst")}); };
  EXPECT_EQ(convert_hub().status, 0);
  std::filesystem::create_directories(model / "snapshots/old");
  EXPECT_TRUE(has(convert_hub().err, "has 2 snapshots; give the folder of one"));
  hub.write("models--goldcrest--g2p/refs/main", "abc");
  EXPECT_EQ(convert_hub().status, 0);
  hub.write("models--goldcrest--g2p/refs/main", "/etc");
  EXPECT_TRUE(has(convert_hub().err, "has 2 snapshots"));
}

TEST_F(FrontDoor, AnotherFamilyIsNamed) {
  const CheckpointCopy copy("enfr");
  copy.set("config.json", "model_type", "prophetnet");
  EXPECT_EQ(convert(copy.path(), {}).err,
      "goldcrest-convert: " + copy.file("config.json").string() +
          ": setting \"model_type\" is \"prophetnet\", which is not supported; supported: \"marian\" (Hugging Face "
          "Marian, OPUS-MT), \"bart\" (BART), \"mbart\" (mBART, mBART-50), \"pegasus\" (Pegasus), \"m2m_100\" "
          "(M2M-100, NLLB), \"blenderbot\" (Blenderbot), \"fsmt\" (FSMT), \"t5\" (T5, FLAN-T5, ByT5, MADLAD), \"mt5\" "
          "(mT5), \"umt5\" (umT5), \"moonshine\" (Moonshine), \"whisper\" (Whisper), \"vision-encoder-decoder\" "
          "(TrOCR, manga-ocr), \"nn_transformer\" (PyTorch nn.Transformer), \"annotated_transformer\" "
          "(the Annotated Transformer), \"seq2seq_transformer\" (PyTorch's translation tutorial), "
          "\"trevett_transformer\" (Ben Trevett's tutorial 6); this is another encoder-decoder of Hugging Face; its "
          "family is not supported\n");
}

TEST_F(FrontDoor, AMissingConfigSaysWhereToGetOne) {
  const CheckpointCopy g2p("g2p"), enfr("enfr");
  g2p.remove("config.json");
  enfr.remove("config.json");
  EXPECT_EQ(convert(g2p.path(), {}).err,
      "goldcrest-convert: " + g2p.file("config.json").string() +
          ": is missing; it tells what the weights of this nn.Transformer cannot. `goldcrest-convert --print-config " +
          g2p.path().string() + "` begins one (converter/dialects/NN_TRANSFORMER.md lists its settings)\n");
  EXPECT_EQ(convert(enfr.path(), {}).err,
      "goldcrest-convert: " + enfr.file("config.json").string() +
          ": is missing; it tells what the weights of this Marian model cannot. Download it from where they came from, "
          "with generation_config.json, tokenizer_config.json, vocab.json, source.spm and target.spm\n");
}

// Removes the sums that depend on config.json's own bytes from a model file: the checkpoint's sum, and the metadata's
// checksums in the last 64 bytes.
std::string without_sums(std::string file) {
  size_t n_digits = 0;
  for (size_t i = 0; i + 64 < file.size(); ++i) {
    n_digits = std::isxdigit(static_cast<unsigned char>(file[i])) != 0 ? n_digits + 1 : 0;
    if (n_digits < 64) continue;
    file.erase(i - 63, 64);
    file.resize(file.size() - 64);
    return file;
  }
  return "no sum";
}

// The answered file of --print-config gives the same model bytes as the hand-written config.json.
TEST_F(FrontDoor, APrintedConfigGivesTheSameFileOnceItIsAnswered) {
  const CheckpointCopy copy("g2p");
  const nlohmann::json by_hand = nlohmann::json::parse(read_file(copy.file("config.json")));
  copy.remove("config.json");
  const Outcome printed = run(convert_program(), {"--print-config", "model.safetensors"}, {.folder = copy.path()});
  ASSERT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  nlohmann::json config = nlohmann::json::parse(printed.out);
  copy.write("config.json", printed.out);
  EXPECT_TRUE(has(with_status(1, convert(copy.path(), {"-o", copy.file("a.gcst")})).err,
      "config.json: 15 settings are not set:\n  \"activation\" is null; expected \"relu\", \"gelu\" (with erf), "
      "\"gelu_tanh\" or \"silu\"; PyTorch's default is \"relu\"\n  "));
  EXPECT_FALSE(std::filesystem::exists(copy.file("a.gcst")));

  for (auto& [key, value] : config.items())
    if (value.is_null()) value = by_hand.at(key);
  for (const char* key : {"name", "license", "attribution", "source_language", "target_language"})
    config[key] = by_hand.at(key);
  copy.write("config.json", config.dump());
  EXPECT_EQ(with_status(0, convert(copy.path(), {"-o", copy.file("a.gcst")})).err, "");
  const std::string answered = without_sums(read_file(copy.file("a.gcst")));
  ASSERT_NE(answered, "no sum");
  EXPECT_TRUE(answered == without_sums(read_file(converted_model("g2p"))));
}

TEST_F(FrontDoor, WarningsComeLastAndAreCounted) {
  const CheckpointCopy copy("g2p");
  copy.set("config.json", "beam_sise", 4);
  const std::string config = copy.file("config.json").string();
  const std::string first = "goldcrest-convert: warning: " + config +
                            ": setting \"beam_sise\" is not known and was ignored; did you mean \"beam_size\"?\n";
  const Outcome one = with_status(0, convert(copy.path(), {}));
  EXPECT_EQ(one.err, first + "goldcrest-convert: 1 warning\n");
  EXPECT_FALSE(has(one.out, "warning"));
  copy.set("config.json", "hobby", "chess");
  const Outcome two = run(convert_program(), {copy.path()});
  EXPECT_TRUE(two.err.ends_with("\n" + first + "goldcrest-convert: warning: " + config +
                                ": setting \"hobby\" is not known and was ignored\ngoldcrest-convert: 2 warnings\n"))
      << two.err;
  EXPECT_EQ(nlohmann::json::parse(run(convert_program(), {"-q", "--json", copy.path()}).out).at("warnings").size(), 2u);
}

TEST_F(FrontDoor, PrintConfigWritesNoModel) {
  const Outcome outcome =
      with_status(2, run(convert_program(), {"--print-config", checkpoint_folder("g2p"), "-o", folder / "a.gcst"}));
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(has(outcome.err, "--output excludes --print-config"));
  EXPECT_EQ(run(convert_program(), {"--print-config", converted_model("g2p")}).err,
      "goldcrest-convert: " + converted_model("g2p").string() +
          ": --print-config works on a checkpoint, not on a .gcst file; give the checkpoint\n");
}
}}  // namespace goldcrest::test
