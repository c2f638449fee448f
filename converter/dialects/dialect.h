// SPDX-License-Identifier: Apache-2.0
// From a checkpoint on disk to the neutral float model. A dialect knows names and settings of its family, and nothing
// of quantization or of the file that is written.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "dialects/config.h"
#include "sources/containers/tensor_source.h"
#include "sources/sniffing/sniff_kinds.h"
#include "spec/spec.h"

namespace goldcrest::converter {

struct LoadOptions {
  std::filesystem::path config;  // empty: config.json beside the weights; of Marian's own models the YAML beside them
  std::function<void(size_t done, size_t total)> progress;  // of the tensors; may be empty
};

// `path`: a directory or a weight file. Its container tells the family, or its config.json does. Throws Error.
ModelSpec load_checkpoint(const std::filesystem::path& path, const LoadOptions& options);

// The model that a checkpoint with this config.json (or one in the folder `path`) will have, with weights of next to
// nothing and the tokenizer of the files beside it, where they are. Throws Error, also where it has more than `most`
// parameters.
ModelSpec load_shape(const std::filesystem::path& path, uint64_t most);

// What each family's loader gets.
struct Checkpoint {
  std::filesystem::path directory;
  Config config;
  std::shared_ptr<const TensorSource> tensors;
  bool is_shape = false;                // without weights: a tokenizer may be missing
  std::filesystem::path settings = {};  // of Marian's own models: the decoder's settings that the user named; or empty
};

// Whether a checkpoint of this kind needs no config.json.
bool tells_its_settings(KindId kind);

// Which families are converted, from which containers, and which are refused by name: a table in Markdown.
std::string list_families();
// The same for a terminal of this many columns.
std::string list_families(size_t columns);

}  // namespace goldcrest::converter
