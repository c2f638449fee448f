// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert on Marian's own files: a folder, its file, and the message about a damaged one.
#include <gtest/gtest.h>

#include "convert/support/ctranslate2_folder.h"
#include "convert/support/toolkit_folder.h"
#include "programs/models.h"
#include "programs/process.h"
#include "support/marian_native.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

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
  const std::pair<const char*, std::string> models[] = {
      {"model.npz", npz_bytes(tensors, settings, true)},
      {"model.bin", binary_bytes(binary_items(tensors, settings, BinaryKind::kInt8WithAlphas))}};
  for (const auto& [name, bytes] : models) {
    const TemporaryFolder folder;
    write_model(folder, name, bytes);
    const Outcome whole = run(convert_program(), {"-q", folder.path(), "-o", folder / "a.gcst"});
    const Outcome file = run(convert_program(), {"-q", name, "-o", "b.gcst"}, {.folder = folder.path()});
    EXPECT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(file.status, 0) << file.err;
    EXPECT_EQ(whole.err, "");
    EXPECT_EQ(read_file(folder / "a.gcst").size(), read_file(folder / "b.gcst").size());
    const Outcome translated = run(translate_program(), {folder / "a.gcst"}, {.input = "word3 word7 other\n"});
    EXPECT_EQ(translated.status, 0) << translated.err;
    EXPECT_EQ(translated.out.find("\u2047"), std::string::npos);  // <unk> is never chosen
    EXPECT_NE(run(inspect_program(), {folder / name}).err.find(": this is a Marian model"), std::string::npos);
  }
}

TEST(Native, ADamagedFileIsNamed) {
  const TemporaryFolder folder;
  const std::string bytes =
      binary_bytes(binary_items(native_tensors(kNativeShape, 1), native_settings(kNativeShape), BinaryKind::kInt8));
  write_model(folder, "model.bin", bytes.substr(0, bytes.size() - 1));
  const size_t settings = native_settings(kNativeShape).size() + 1;
  EXPECT_EQ(run(convert_program(), {"-q", folder.path()}).err,
            "goldcrest-convert: " + (folder / "model.bin").string() + ": tensor \"special:model.yml\": has " +
                std::to_string(settings) + " bytes at byte " + std::to_string(bytes.size() - settings) +
                " of a file of " + std::to_string(bytes.size() - 1) +
                ": it is truncated or damaged; download it again\n");
  folder.write("model.bin", bytes);
  folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: [1]\n");
  EXPECT_EQ(run(convert_program(), {"-q", folder.path()}).err,
            "goldcrest-convert: " + (folder / "decoder.yml").string() +
                ": setting \"beam-size\" is a JSON array, expected an integer from 1 to 1000\n");
}

// Runs the commands of OPENNMT_PY.md and FAIRSEQ.md, and translates texts with their models.

std::string page(const char* name) {
  return read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "converter/dialects" / name);
}

TEST(Toolkit, ThePagesCommandsConvertThem) {
  const std::string path = convert_program().parent_path();
  for (const bool is_fairseq : {false, true}) {
    ToolkitFolder checkpoint({.is_fairseq = is_fairseq});
    if (!is_fairseq)
      for (size_t id = 0; id < 4; ++id) checkpoint.tensors["generator.bias"].values[id] = -9;  // makes words likelier
    const char* const name = is_fairseq ? "checkpoint_best.pt" : "model_step_20000.pt";
    const std::string command = "goldcrest-convert " + std::string(name) + " -o model.gcst";
    EXPECT_NE(page(is_fairseq ? "FAIRSEQ.md" : "OPENNMT_PY.md").find("\n    " + command), std::string::npos);
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
    EXPECT_NE(converted.out.find(std::string(name) + (is_fairseq ? " (fairseq)" : " (opennmt_py)")), std::string::npos)
        << converted.out;

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
    Arguments arguments = {"-q", "--json", folder.path(), "-o", file("model.gcst")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run(convert_program(), arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out).at("warnings");
  }
  std::string translate(const std::string& option, const std::string& lines) const {
    const Outcome outcome = run(translate_program(), {file("model.gcst"), option}, {.input = lines});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
};

TEST(Subword, FromTextToIdsAndBack) {
  const SubwordFolder checkpoint;
  EXPECT_EQ(checkpoint.convert({}), std::vector<std::string>{});
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab  bab ba\nacd\r\n"), "10 4 7 8 3 5 0\n2 11 1 0\n");
  EXPECT_EQ(checkpoint.translate("--decode", "4 7 8 3 5 0\n2 11 1 9 0\n2\n"), "abab bab ba\nac\u2047 c\na\n");
  const Outcome outcome = run(inspect_program(), {checkpoint.file("model.gcst"), "--self-test"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\ntext         tokenizer, detokenizer\n"
                             "             words between spaces, cut by subword-nmt's merges\n"),
            std::string::npos)
      << outcome.out;
}

TEST(Subword, APartOfTheVocabulary) {
  const SubwordFolder checkpoint;
  checkpoint.folder.write("kept", "a@@\nb@@\nb\nc\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary", checkpoint.file("kept")}),
            std::vector<std::string>{"2 of the source's 6 single characters are not kept; texts lose them: \"a\", "
                                     "\"c@@\""});
  // </s>, <unk>, a@@, b@@, b, c, >>fr<<: the model splits ab and bab again.
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab bab c\n"), "6 2 3 2 4 3 2 4 5 0\n");
  checkpoint.folder.write("text", "bab ca\tbab\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary-of", checkpoint.file("text")}),
            std::vector<std::string>{"1 of the source's 6 single characters are not kept; texts lose them: \"c\""});
  EXPECT_EQ(checkpoint.translate("--encode", "bab ca ab\n"), "6 8 4 2 5 0\n");
}

}  // namespace
}  // namespace goldcrest::test
