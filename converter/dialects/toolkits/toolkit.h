// SPDX-License-Identifier: Apache-2.0
// Toolkits whose checkpoints tell their settings themselves. Each reads as nn_transformer does, with the settings that
// it makes of the checkpoint's own.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dialects/config.h"
#include "dialects/nn_transformer/nn_transformer_names.h"
#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/sniffing/sniff_kinds.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

struct SavedModel {
  std::filesystem::path file;  // with the tensors
  Value saved;                 // what it has besides tensors: saved_settings.h
  Value given;                 // config.json, or {}
  TensorReader& tensors;
};

struct ToolkitModel {
  Value settings;  // nn_transformer's
  LayerNames names;
  std::vector<std::filesystem::path> vocabularies;  // files that the settings have the texts of
  std::vector<std::string> warnings;
};

struct Toolkit {
  const char* model_type;
  KindId kind;  // by which its checkpoints are known
  ToolkitModel (*read)(const SavedModel& model);
  ListedFamily listed;
};

extern const Toolkit kFairseqToolkit, kOpenNmtPyToolkit;

// By a checkpoint of one of them.
extern const WayIn kToolkitWay;

// The toolkit that a checkpoint is of by its sniffed kind; null: none.
const Toolkit* toolkit_of(KindId kind);

// An option that can have these values alone; one that is missing or null is what the toolkit has without being told.
struct AllowedOption {
  const char *key, *values, *why;  // values: a JSON array; why: of the others, or ""
};
// Throws Error on the first that has another value.
void check_options(const Config& options, std::span<const AllowedOption> allowed);

}  // namespace goldcrest::converter
