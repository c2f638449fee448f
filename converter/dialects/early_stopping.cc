// SPDX-License-Identifier: Apache-2.0
#include "dialects/early_stopping.h"

#include "spec/error.h"

namespace goldcrest::converter {

EarlyStopping read_early_stopping(const Config& config) {
  const nlohmann::json* value = config.find("early_stopping");
  if (value == nullptr || *value == false) return EarlyStopping::kLikely;
  if (*value == true) return EarlyStopping::kFull;
  if (*value == "never") return EarlyStopping::kNever;
  throw Error("{} is {}, expected true, false or \"never\"", config.where("early_stopping"), value->dump());
}

}  // namespace goldcrest::converter
