// SPDX-License-Identifier: Apache-2.0
// The programs under test, the shipped checkpoints, and the models that the converter makes of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include "programs/process.h"

namespace goldcrest::test {
// The programs of this build.
std::filesystem::path convert_program();
std::filesystem::path translate_program();
std::filesystem::path transcribe_program();
std::filesystem::path inspect_program();

// Returns `outcome`. Another exit status fails the test at the caller's line and prints what the program said.
Outcome with_status(int status, Outcome outcome, const char* file = __builtin_FILE(), int line = __builtin_LINE());
// Runs the converter on a checkpoint, quietly.
Outcome convert(const std::filesystem::path& checkpoint, const Arguments& options);
// Returns the converter's report; a failure or a warning fails the test.
nlohmann::json convert_json(const std::filesystem::path& checkpoint, const Arguments& options);
// Translates lines with a model file, or with a shipped checkpoint's model.
Outcome translate_with(const std::filesystem::path& model, const Arguments& options, const std::string& input,
    Output output = Output::kCaptured);
Outcome translate(
    const std::string& task, const Arguments& options, const std::string& input, Output output = Output::kCaptured);

std::filesystem::path checkpoint_folder(const std::string& task);  // "g2p", "enfr"
std::filesystem::path golden_folder(const std::string& task);
std::filesystem::path validation_file(const std::string& task);  // sources with their references

// Returns a shipped checkpoint's model, which each test program converts once, with default options.
const std::filesystem::path& converted_model(const std::string& task);

// Returns the path of the model of a recorded random checkpoint, "moonshine" or "whisper".
std::filesystem::path random_speech_checkpoint(const std::string& family);
std::string random_speech_model(const std::string& family, const Arguments& options = {});

// One validation source with the float32 results of the training framework.
struct GoldenLine {
  std::string text;
  std::vector<int32_t> source_ids, greedy, beam4;  // end token included
};
std::vector<GoldenLine> golden_lines(const std::string& task);

size_t files_in(const std::filesystem::path& folder);
std::string read_file(const std::filesystem::path& path);
// The commands of a page of the repository: indented lines that begin with a program's name, without comments.
std::vector<std::string> commands_of(const std::string& page);
// "5 3 0"
std::string ids_text(const std::vector<int32_t>& ids);
}  // namespace goldcrest::test
