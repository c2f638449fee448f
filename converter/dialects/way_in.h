// SPDX-License-Identifier: Apache-2.0
// The ways to recognise a checkpoint: by its container, which tells family and settings, or by a config.json.
#pragma once

#include <functional>
#include <vector>
#include "dialects/dialect.h"
#include "sources/containers/shape_tensors.h"
#include "sources/sniffing/sniff.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
// The arguments of load_checkpoint.
struct LoadRequest {
  const std::filesystem::path& path;       // a directory or a weight file
  const std::filesystem::path& directory;  // the folder with the weights
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

struct Tutorial;

// A family that a config.json names. Each family's room defines its own; config_way.cc lists them all.
struct ConfigFamily {
  const char* model_type;
  const char* description;  // for messages
  ModelSpec (*load)(const Checkpoint& checkpoint);
  // Lists the tensors of a checkpoint with this config.json. Sizes that a conversion takes from the weights must be
  // settings here.
  std::vector<ShapedTensor> (*tensors)(const Config& config);
  // Adds names for the tensors that config.json does not name; they do not affect sizes. Null: the names are always the
  // same.
  void (*name_tensors)(Value& config);
  const Tutorial* tutorial;  // its code fixes what a config.json leaves out; or null
  ListedFamily listed;       // null texts: another family's row names this one too
  bool any_length = false;   // its models have no last position, so that an option chooses one
};
}  // namespace goldcrest::converter
