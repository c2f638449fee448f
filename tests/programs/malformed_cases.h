// SPDX-License-Identifier: Apache-2.0
// Bad input of every kind, made from the good checkpoints, and the converter's messages about it.
#pragma once

#include "programs/checkpoint_copy.h"

namespace goldcrest::test {
struct MalformedCase {
  std::string name;
  std::string task;
  std::function<void(const CheckpointCopy&)> breaks;
  std::vector<std::string> words;  // the message's; "@" stands for the checkpoint's folder
  Arguments options = {};          // "@" likewise
};

std::vector<MalformedCase> malformed_weight_files();
std::vector<MalformedCase> malformed_torch_files();
std::vector<MalformedCase> malformed_tensors();
std::vector<MalformedCase> malformed_configs();
std::vector<MalformedCase> malformed_tokenizers();
std::vector<MalformedCase> malformed_options();
}  // namespace goldcrest::test
