// SPDX-License-Identifier: Apache-2.0
// Conversions, goldens and texts that several program tests share.
#include "programs/models.h"
#include <nlohmann/json.hpp>
#include "convert/support/sample_folder.h"
#include "spec/format_text.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
const std::filesystem::path kRoot = GOLDCREST_SOURCE_DIR;
}  // namespace

std::filesystem::path convert_program() { return GOLDCREST_CONVERT_PROGRAM; }
std::filesystem::path translate_program() { return GOLDCREST_TRANSLATE_PROGRAM; }
std::filesystem::path transcribe_program() { return GOLDCREST_TRANSCRIBE_PROGRAM; }
std::filesystem::path inspect_program() { return GOLDCREST_INSPECT_PROGRAM; }

Outcome with_status(int status, Outcome outcome, const char* file, int line) {
  if (outcome.status != status)
    ADD_FAILURE_AT(file, line) << "status " << outcome.status << ", not " << status << "\n"
                               << outcome.err << outcome.out;
  return outcome;
}

Outcome convert(const std::filesystem::path& checkpoint, const Arguments& options) {
  return run(convert_program(), concat({"-q", checkpoint}, options));
}

nlohmann::json convert_json(const std::filesystem::path& checkpoint, const Arguments& options) {
  const Outcome outcome = with_status(0, convert(checkpoint, concat(options, {"--json"})));
  EXPECT_EQ(outcome.err, "");
  return nlohmann::json::parse(outcome.out);
}

Outcome translate_with(
    const std::filesystem::path& model, const Arguments& options, const std::string& input, Output output) {
  return run(translate_program(), concat({model}, options), {.input = input, .output = output});
}

Outcome translate(const std::string& task, const Arguments& options, const std::string& input, Output output) {
  return translate_with(converted_model(task), options, input, output);
}

std::filesystem::path random_speech_checkpoint(const std::string& family) {
  static const PackedFolders checkpoints(recorded("speech.json"));
  return checkpoints.path() / family;
}

std::string random_speech_model(const std::string& family, const Arguments& options) {
  static const TemporaryFolder models;
  std::string name = family;
  for (const std::string& option : options) name += option;
  std::ranges::replace(name, '/', '_');
  const std::filesystem::path path = models / (name + ".gcst");
  EXPECT_EQ(convert(random_speech_checkpoint(family), concat({"-o", path}, options)).status, 0) << name;
  return path.string();
}

size_t files_in(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::filesystem::path checkpoint_folder(const std::string& task) { return kRoot / "examples/models" / task; }
std::filesystem::path golden_folder(const std::string& task) { return kRoot / "tests/golden" / task; }
std::filesystem::path validation_file(const std::string& task) { return kRoot / "tests/data" / task / "valid.tsv"; }

const std::filesystem::path& converted_model(const std::string& task) {
  static const TemporaryFolder folder;
  static std::map<std::string, std::filesystem::path> models;
  std::filesystem::path& model = models[task];
  if (model.empty()) {
    const std::filesystem::path output = folder / (task + ".gcst");
    const Outcome outcome = run(convert_program(), {"-q", checkpoint_folder(task), "-o", output});
    if (outcome.status != 0) throw std::runtime_error("cannot convert " + task + ": " + outcome.err);
    model = output;
  }
  return model;
}

std::vector<GoldenLine> golden_lines(const std::string& task) {
  std::vector<GoldenLine> lines;
  std::ifstream results(golden_folder(task) / "results.jsonl");
  for (std::string line; std::getline(results, line);) {
    const nlohmann::json result = nlohmann::json::parse(line);
    lines.push_back({result.at("text"), result.at("source_ids"), result.at("greedy"), result.at("beam4")});
  }
  return lines;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(read_file(kRoot / page)))
    if (line.starts_with("    goldcrest-")) commands.push_back(line.substr(4, line.find("  ", 4) - 4));
  return commands;
}

std::string ids_text(const std::vector<int32_t>& ids) { return converter::join_text(ids, " "); }
}  // namespace goldcrest::test
