// SPDX-License-Identifier: Apache-2.0
// The bound of a conversion's memory.
#pragma once

#include <nlohmann/json.hpp>
#include "programs/process.h"
#include "support/test.h"

namespace goldcrest::test {
// Bounds the memory for a checkpoint of Marian's whose largest tensor is its embedding.
inline void expect_lean(
    const Outcome& outcome, const std::filesystem::path& checkpoint, const std::filesystem::path& model) {
  const nlohmann::json config = nlohmann::json::parse(std::ifstream(checkpoint / "config.json"));
  const uint64_t largest =
      config.at("vocab_size").get<uint64_t>() * config.at("d_model").get<uint64_t>() * sizeof(float);
  const uint64_t file = std::filesystem::file_size(model);
  EXPECT_LE(outcome.most_bytes, largest * 13 / 10 + file) << "largest tensor " << largest << ", file " << file;
  ::testing::Test::RecordProperty("most_bytes", std::to_string(outcome.most_bytes));
}
}  // namespace goldcrest::test
