// SPDX-License-Identifier: Apache-2.0
// How a checkpoint comes in: its container tells its family and its settings, or a config.json does.
#pragma once

#include <functional>
#include <vector>

#include "dialects/dialect.h"
#include "sources/sniffing/sniff.h"

namespace goldcrest::converter {

// What load_checkpoint is asked for.
struct LoadRequest {
  const std::filesystem::path& path;       // a directory or a weight file
  const std::filesystem::path& directory;  // of the weights
  const LoadOptions& options;
  const Sniffed& sniffed;  // what is at `path`
};

// A checkpoint's settings and tensors, and what makes a model of them.
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

// By a config.json, which names the family: for every checkpoint that no other way recognises.
extern const WayIn kConfigWay;

// The tensors, whose reads the options' progress counts.
std::unique_ptr<TensorSource> counted(std::unique_ptr<TensorSource> tensors, const LoadOptions& options);

// A checkpoint's directory is itself, or its weight file's. Throws Error where there is none.
std::filesystem::path directory_of(const std::filesystem::path& checkpoint);

}  // namespace goldcrest::converter
