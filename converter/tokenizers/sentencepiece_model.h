// SPDX-License-Identifier: Apache-2.0
// Reads a SentencePiece .model or .spm file into a TokenizerSpec with the file's own ids.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spec/spec.h"

namespace goldcrest::converter {

// Reads unigram, BPE and character models. A character model becomes kBpe: its pieces are single characters, so nothing
// merges. Throws Error if the file is missing, empty, a Git LFS pointer, a web page, truncated, or not such a model.
// Word models and denormalizers are refused by name.
TokenizerSpec read_sentencepiece_model(const std::filesystem::path& path);

// Does the same with the file's bytes; `where` names the file in messages.
TokenizerSpec parse_sentencepiece_model(std::string_view bytes, const std::string& where);

// Returns the path that the trainer wrote the model to (trainer_spec.model_prefix), or "". It may name the training
// data.
std::string read_model_prefix(const std::filesystem::path& path);

}  // namespace goldcrest::converter
