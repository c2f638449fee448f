// SPDX-License-Identifier: Apache-2.0
// The ways to recognise a checkpoint: by its container, which tells family and settings, or by a config.json.
#pragma once

#include <functional>
#include <vector>

#include "dialects/dialect.h"
#include "sources/sniffing/sniff.h"

namespace goldcrest::converter {

// The arguments of load_checkpoint.
struct LoadRequest {
  const std::filesystem::path& path;       // a directory or a weight file
  const std::filesystem::path& directory;  // of the weights
  const LoadOptions& options;
  const Sniffed& sniffed;  // description of `path`
};

// A checkpoint's settings and tensors, and the function that makes a model of them.
struct OpenedCheckpoint {
  Checkpoint checkpoint;
  const char* dialect;  // for the file's metadata
  std::function<ModelSpec(const Checkpoint& checkpoint)> load;
};

// A row of --list.
struct ListedFamily {
  const char *family, *from;
};

struct WayIn {
  bool (*recognises)(KindId kind);
  OpenedCheckpoint (*open)(const LoadRequest& request);  // throws Error
  std::vector<ListedFamily> (*listed)();
};

// Recognises checkpoints by the config.json that names their family, after all other ways have failed.
extern const WayIn kConfigWay;

// Wraps the tensors so that options.progress counts their reads.
std::unique_ptr<TensorSource> counted(std::unique_ptr<TensorSource> tensors, const LoadOptions& options);

// Returns the checkpoint if it is a directory, else the directory of the weight file. Throws Error if there is none.
std::filesystem::path directory_of(const std::filesystem::path& checkpoint);

}  // namespace goldcrest::converter
