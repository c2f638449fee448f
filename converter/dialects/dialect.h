// SPDX-License-Identifier: Apache-2.0
// Loads a checkpoint from disk into the neutral float model. A dialect knows the names and settings of its family, and
// nothing of quantization or of the output file.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include "dialects/config.h"
#include "sources/containers/tensor_source.h"
#include "sources/sniffing/sniff_kinds.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Choices that some checkpoints leave open.
struct OpenChoices {
  double max_seconds = 0;      // speech: the longest clip; 0: the family's
  std::string language;        // speech: the target's, as the checkpoint names it; empty: the model chooses
  uint32_t max_positions = 0;  // a model without a last position (T5); 0: the checkpoint's or the family's usual one
  double ids_a_second = -1;    // speech: the most for a clip; 0: no limit; below: the family's
  bool timestamps = false;     // speech: ids that are times stay
};

struct LoadOptions {
  std::filesystem::path config;  // empty: the config.json, or for Marian's own models the YAML, next to the weights
  std::function<void(size_t done, size_t total)> progress;  // in tensors; may be empty
  OpenChoices choices = {};
};

// `path` is a directory or a weight file. Its container or its config.json tells the family. Throws Error.
ModelSpec load_checkpoint(const std::filesystem::path& path, const LoadOptions& options);

// Gives a speech model Silero's voice detector (speech/voice.cc). Throws Error for other models and files.
void add_voice(const std::filesystem::path& path, ModelSpec& spec);

// Returns the model that a checkpoint with this config.json (or the one in the folder `path`) will have. Its weights
// are tiny; its tokenizer comes from the files next to the config, if they exist. Throws Error, also if the model has
// more than `most` parameters.
ModelSpec load_shape(const std::filesystem::path& path, uint64_t most, const OpenChoices& choices = {});

// The input of every family's loader.
struct Checkpoint {
  std::filesystem::path directory;
  Config config;
  std::shared_ptr<const TensorSource> tensors;
  bool is_shape = false;                // no weights; a tokenizer may be missing
  std::filesystem::path settings = {};  // for Marian's own models: the decoder settings that the user named, or empty
  OpenChoices choices = {};
};

// True if a checkpoint of this kind needs no config.json.
bool tells_its_settings(KindId kind);

// Returns a table in Markdown: the converted families with their containers, and the families that are refused by name.
std::string list_families();
// Returns the same for a terminal with this many columns.
std::string list_families(size_t columns);

// Fills in name, licence and attribution. Prefers config.json's "name", "license" and "attribution". Else uses
// _name_or_path, the folder of a Hugging Face cache or the folder's name, and the front matter of README.md.
void fill_provenance(const Checkpoint& checkpoint, ModelSpec& spec);
}  // namespace goldcrest::converter
