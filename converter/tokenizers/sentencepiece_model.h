// SPDX-License-Identifier: Apache-2.0
// A SentencePiece .model or .spm file to a TokenizerSpec, with the file's own ids.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spec/spec.h"

namespace goldcrest::converter {

// Unigram, BPE and character models. A character model becomes kBpe: its pieces are single characters, so nothing
// merges. Throws Error when the file is missing, empty, a Git LFS pointer, a web page, truncated, or no such model;
// word models and denormalizers are refused by name.
TokenizerSpec read_sentencepiece_model(const std::filesystem::path& path);

// The same from the file's bytes; `where` names the file in messages.
TokenizerSpec parse_sentencepiece_model(std::string_view bytes, const std::string& where);

// Where its trainer was told to write such a model (trainer_spec.model_prefix), which may say what it was trained on;
// or empty.
std::string read_model_prefix(const std::filesystem::path& path);

}  // namespace goldcrest::converter
