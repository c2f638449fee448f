// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert --list, the commands of TUTORIALS.md, and the programs' messages about the tutorials' checkpoints.
#include <gtest/gtest.h>
#include <regex>
#include "convert/support/tutorial_folder.h"
#include "converter/dialects/dialect.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
TEST(Tutorial, ThePagesCommandsConvertEachOfThem) {
  const std::vector<std::string> commands = commands_of("converter/dialects/TUTORIALS.md");
  ASSERT_EQ(commands.size(), 2u);
  const std::string path = convert_program().parent_path();
  for (const auto& [kind, model_type] : kTutorials) {
    const TutorialFolder checkpoint(kind);
    checkpoint.write();
    std::filesystem::remove(checkpoint.folder / "config.json");
    const auto typed = [&](const std::string& command) {
      return run("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\" " + command}, {.folder = checkpoint.folder.path()});
    };
    const Outcome printed = typed(commands[0]);
    ASSERT_EQ(printed.status, 0) << printed.err;
    EXPECT_EQ(typed(commands[1]).status, 1) << "nothing is answered yet";
    nlohmann::json config = nlohmann::json::parse(checkpoint.folder.read("config.json"));
    config.update({{"nhead", 2}, {"bos_token", "<s>"}, {"eos_token", "</s>"}, {"pad_token", "<pad>"},
        {"unk_token", "<unk>"}, {"source_unit", "word"}, {"target_unit", "word"},
        {"source_vocabulary", {"<s>", "</s>", "<pad>", "<unk>", "one", "two", "three", "four", "five"}},
        {"target_vocabulary", {"<s>", "</s>", "<pad>", "<unk>", "eins", "zwei", "drei"}}});
    checkpoint.folder.write("config.json", config.dump());
    const Outcome converted = with_status(0, typed(commands[1]));
    EXPECT_TRUE(has(converted.out, std::string("model.pt (") + model_type + ")"));
    EXPECT_FALSE(has(converted.err, "warning"));
    EXPECT_TRUE(std::filesystem::exists(checkpoint.folder / "model.gcst"));
    const bool has_bound = std::regex_search(converted.out,
        std::regex("\nnorms    1e-06 is added to the deviation, folded; this changes a norm by at most [0-9.e-]+ of "
                   "its value, at the smallest deviation, [0-9.]+, of [0-9]+ rows of 3 sources\n"));
    EXPECT_EQ(has_bound, kind == TutorialKind::kAnnotated) << converted.out;
  }
}

TEST(Tutorial, TheLeastConfigOfThePageIsEnough) {
  const std::string page = read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "converter/dialects/TUTORIALS.md");
  const std::string fence = "```json\n";
  const size_t begin = page.find(fence) + fence.size();
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  checkpoint.config = nlohmann::json::parse(page.substr(begin, page.find("```", begin) - begin));
  EXPECT_EQ(checkpoint.load().encoder.n_heads, 8u);
}

TEST(Tutorial, EveryReportHasTheBoundOfFoldedNorms) {
  const TutorialFolder checkpoint(TutorialKind::kAnnotated);
  checkpoint.write();
  const std::string page = checkpoint.folder / "report.html";
  const Outcome outcome = run(convert_program(), {"-q", "--json", "--report", page, checkpoint.folder.path()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const nlohmann::json norms = nlohmann::json::parse(outcome.out).at("norms");
  EXPECT_NEAR(norms.at("deviation_epsilon").get<double>(), 1e-6, 1e-12);
  EXPECT_NEAR(
      norms.at("largest_relative_error").get<double>(), 1e-6 / norms.at("smallest_deviation").get<double>(), 1e-10);
  EXPECT_GT(norms.at("rows").get<size_t>(), 0u);
  EXPECT_TRUE(has(read_file(page), "<h2>Norms</h2><pre>norms    1e-06 is added to the deviation"));
}

TEST(Tutorial, NormsThatTheirEpsilonChangesAreRefused) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  checkpoint.config["layer_norm_eps"] = 0.01;
  checkpoint.write();
  const std::string file = checkpoint.folder / "model.gcst";
  const Outcome outcome = with_status(1, convert(checkpoint.folder.path(), {"-o", file}));
  EXPECT_TRUE(std::regex_match(
      outcome.err, std::regex("goldcrest-convert: " + checkpoint.folder.path().string() +
                              ": its norms add 0.01 to the deviation, which a file's norms add to the variance; the "
                              "smallest deviation of [0-9]+ rows is [0-9.]+, where this changes a norm by [0-9.]+ of "
                              "its value, more than 2\\^-16; it cannot be converted\n")))
      << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

constexpr const char* kFamilies =
    "| family | | from |\n"
    "|---|---|---|\n"
    "| OPUS-MT and other Marian models of Hugging Face | yes | safetensors (also sharded), `pytorch_model.bin` |\n"
    "| BART, mBART, mBART-50, Pegasus, M2M-100, NLLB, Blenderbot, FSMT, T5, FLAN-T5, mT5, umT5, ByT5, MADLAD of "
    "Hugging Face | yes | safetensors (also sharded), `pytorch_model.bin`; [details of these "
    "families](converter/dialects/HUGGING_FACE.md) |\n"
    "| Moonshine and Whisper of Hugging Face | yes | safetensors (also sharded), `pytorch_model.bin`; [details of "
    "speech models](converter/dialects/speech/SPEECH.md) |\n"
    "| TrOCR and manga-ocr of Hugging Face: images to text | yes | safetensors (also sharded), `pytorch_model.bin`; "
    "[details of images](converter/dialects/IMAGES.md) |\n"
    "| your own PyTorch `nn.Transformer` | yes | safetensors, `torch.save` state dict; [a "
    "config.json](converter/dialects/NN_TRANSFORMER.md), which `--print-config` drafts |\n"
    "| the Annotated Transformer of Harvard NLP | yes | safetensors (also sharded), `torch.save` state dict; [a short "
    "config.json](converter/dialects/TUTORIALS.md), which `--print-config` drafts |\n"
    "| `Seq2SeqTransformer` of PyTorch's translation tutorial | yes | safetensors (also sharded), `torch.save` state "
    "dict; [a short config.json](converter/dialects/TUTORIALS.md), which `--print-config` drafts |\n"
    "| Ben Trevett's tutorial 6, \"Attention is All You Need\" | yes | safetensors (also sharded), `torch.save` state "
    "dict; [a short config.json](converter/dialects/TUTORIALS.md), which `--print-config` drafts |\n"
    "| Firefox's translation students and other models of Marian's own | yes | `.npz`, `.bin`, with their YAML, "
    "vocabularies and shortlists; [details of Marian files](converter/dialects/MARIAN.md) |\n"
    "| CTranslate2 encoder–decoders, packages of Argos Translate | yes | directories of every compute type, "
    "`.argosmodel`; [details of CTranslate2 directories](converter/dialects/CTRANSLATE2.md) |\n"
    "| fairseq's Transformers (`transformer`, `transformer_...`) | yes | `.pt` with its `dict.*.txt`; [details of "
    "fairseq checkpoints](converter/dialects/FAIRSEQ.md) |\n"
    "| OpenNMT-py's Transformers | yes | `.pt`; [details of OpenNMT-py checkpoints](converter/dialects/OPENNMT_PY.md) "
    "|\n"
    "| other encoder-decoders of Hugging Face (LED, ProphetNet, SpeechT5 ...), encoder-only models (BERT), "
    "decoder-only models (GPT, Llama) | no | refused by name |\n";

TEST(List, NamesFamiliesAndContainers) { EXPECT_EQ(converter::list_families() + "\n", kFamilies); }

// The cells of a row of a Markdown table.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (size_t begin = 2, end = 0; (end = row.find(" |", begin - 1)) != std::string::npos; begin = end + 3)
    cells.push_back(end < begin ? "" : row.substr(begin, end - begin));
  return cells;
}

// Every family has its row, with the same verdict and the same containers; one row may name several families.
TEST(List, TheReadmesTableSaysTheSame) {
  const std::string page = read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "README.md");
  const std::string heading = "| family | | from | details |\n|---|---|---|---|\n";
  const size_t begin = page.find(heading);
  ASSERT_NE(begin, std::string::npos);
  const size_t first = begin + heading.size();
  const std::vector<std::string> rows = lines_of(page.substr(first, page.find("\n\n", first) - first));
  std::vector<bool> is_named(rows.size(), false);
  const std::vector<std::string> listed = lines_of(converter::list_families());
  ASSERT_GT(listed.size(), 2u);
  for (size_t i = 2; i < listed.size(); ++i) {
    const std::vector<std::string> wanted = cells_of(listed[i]);
    ASSERT_EQ(wanted.size(), 3u) << listed[i];
    bool is_found = false;
    for (size_t r = 0; r < rows.size(); ++r) {
      const std::vector<std::string> found = cells_of(rows[r]);
      ASSERT_EQ(found.size(), 4u) << rows[r];
      if (found[0].find(wanted[0]) == std::string::npos) continue;
      is_found = true;
      is_named[r] = true;
      EXPECT_EQ(found[1], wanted[1]) << rows[r];
      EXPECT_EQ(found[2], wanted[2].substr(0, wanted[2].find("; ["))) << rows[r];
    }
    EXPECT_TRUE(is_found) << listed[i];
  }
  for (size_t r = 0; r < rows.size(); ++r) EXPECT_TRUE(is_named[r]) << rows[r];
}

// The list has no Markdown, and no line that a terminal breaks. Without a terminal it has 80 columns.
TEST(List, IsForATerminal) {
  const Outcome outcome = with_status(0, run(convert_program(), {"--list"}));
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(
      outcome.out.starts_with("converted\n"
                              "  OPUS-MT and other Marian models of Hugging Face\n"
                              "      safetensors (also sharded), pytorch_model.bin\n"))
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "  your own PyTorch nn.Transformer\n"));
  EXPECT_TRUE(has(outcome.out, "a config.json\n      (converter/dialects/NN_TRANSFORMER.md)"));
  EXPECT_TRUE(has(outcome.out, "\nrefused by name\n  other encoder-decoders "));
  for (const size_t columns : {48u, 80u, 120u}) {
    for (const std::string& line : lines_of(converter::list_families(columns))) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_EQ(line.find_first_of("|`["), std::string::npos) << line;
    }
  }
  EXPECT_EQ(outcome.out, converter::list_families(80) + "\n");
}
}}  // namespace goldcrest::test
