// SPDX-License-Identifier: Apache-2.0
// Toolkits whose checkpoints contain their settings. Each translates these into settings of nn_transformer and loads
// with that dialect.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>
#include "dialects/config.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tensor_reader.h"
#include "dialects/way_in.h"
#include "sources/sniffing/sniff_kinds.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
struct SavedModel {
  std::filesystem::path file;  // with the tensors
  Value saved;                 // the rest of the file: saved_settings.h
  Value given;                 // config.json, or {}
  TensorReader& tensors;
};

struct ToolkitModel {
  Value settings;  // those of nn_transformer
  LayerNames names;
  std::vector<std::filesystem::path> vocabularies;  // files whose texts the settings contain
  std::vector<std::string> warnings;
};

struct Toolkit {
  const char* model_type;
  KindId kind;  // identifies its checkpoints
  ToolkitModel (*read)(const SavedModel& model);
  ListedFamily listed;
};

extern const Toolkit kFairseqToolkit, kOpenNmtPyToolkit;

// Recognises a checkpoint of any of them.
extern const WayIn kToolkitWay;

// Returns the toolkit of a checkpoint by its sniffed kind; null: none.
const Toolkit* toolkit_of(KindId kind);

// An option that may only have these values. If it is missing or null, it has the toolkit's default.
struct AllowedOption {
  const char *key, *values, *why;  // values: a JSON array; why: the reason to refuse others, or ""
};
// Throws Error on the first option that has another value.
void check_options(const Config& options, std::span<const AllowedOption> allowed);
}  // namespace goldcrest::converter
