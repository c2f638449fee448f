// SPDX-License-Identifier: Apache-2.0
#include "dialects/early_stopping.h"

#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {

EarlyStopping read_early_stopping(const Config& config) {
  const Value* value = config.find("early_stopping");
  if (value == nullptr || *value == false) return EarlyStopping::kLikely;
  if (*value == true) return EarlyStopping::kFull;
  if (*value == "never") return EarlyStopping::kNever;
  throw Error("{} is {}, expected true, false or \"never\"", config.where("early_stopping"), write_json(*value));
}

}  // namespace goldcrest::converter
