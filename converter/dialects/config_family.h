// SPDX-License-Identifier: Apache-2.0
// A family that a config.json names. Each family's room defines its own; config_way.cc lists them all.
#pragma once

#include <vector>

#include "dialects/way_in.h"
#include "sources/containers/shape_tensors.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

struct Tutorial;

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
  const Tutorial* tutorial;  // whose code fixes what a config.json leaves out; or null
  ListedFamily listed;       // null texts: another family's row names this one too
  bool any_length = false;   // its models have no last position, so that an option chooses one
};

}  // namespace goldcrest::converter
