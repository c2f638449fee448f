// SPDX-License-Identifier: Apache-2.0
// A shipped checkpoint, which each test program loads and builds once.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include "converter/dialects/dialect.h"
#include "converter/file/build.h"
#include "converter/file/write.h"

namespace goldcrest::test {
struct ShippedModel {
  explicit ShippedModel(const std::string& task)
      : spec(converter::load_checkpoint(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models" / task, {})),
        payload(converter::build_payload(spec, {})),
        image(converter::assemble(payload, {})) {}

  converter::ModelSpec spec;
  converter::Payload payload;
  converter::FileImage image;  // without a self-test
};

// "g2p" or "enfr".
inline const ShippedModel& shipped_model(const std::string& task) {
  static std::map<std::string, ShippedModel> models;
  return models.try_emplace(task, task).first->second;
}
}  // namespace goldcrest::test
