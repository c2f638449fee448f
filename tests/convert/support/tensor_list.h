// SPDX-License-Identifier: Apache-2.0
// The tensors of a checkpoint, which a test changes before it writes them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "support/checkpoint_writer.h"

namespace goldcrest::test {

struct TensorList {
  std::vector<NamedTensor> tensors;

  NamedTensor& tensor(const std::string& name) {
    for (NamedTensor& found : tensors) {
      if (found.name == name) return found;
    }
    throw std::out_of_range(name);
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const NamedTensor& found) { return found.name == name; });
  }
  void add(const std::string& name, const std::vector<uint64_t>& sizes, float value) {
    uint64_t n = 1;
    for (const uint64_t size : sizes) n *= size;
    tensors.push_back({name, sizes, std::vector<float>(n, value)});
  }
};

}  // namespace goldcrest::test
