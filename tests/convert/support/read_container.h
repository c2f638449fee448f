// SPDX-License-Identifier: Apache-2.0
// Tensors by name, and reading them from containers.
#pragma once

#include "converter/sources/containers/tensor_source.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"

namespace goldcrest::test {
// Opens a container, reads all of it and returns the message; also tests damage at every byte.

using OpenContainer = std::function<std::unique_ptr<converter::TensorSource>(const std::filesystem::path&)>;

// Returns "no error", or the error's message after the file's name.
inline std::string message_of_reading(const OpenContainer& open, const std::filesystem::path& path) {
  const auto read = [&] {
    const auto source = open(path);
    for (const std::string& name : source->names()) source->load(name);
  };
  return error_of(read, path.string());
}

// Every length that is too short gives an Error; every changed byte gives an Error or some tensors.
inline void expect_damage_survived(
    const std::string& good, const std::function<std::string(const std::string& bytes)>& message_of) {
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(message_of(good.substr(0, n)), "no error") << n;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char mask : {'\x41', '\x80'}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      message_of(changed);
    }
  }
}

// The tensors of a checkpoint, which a test changes before it writes them.

struct TensorList {
  std::vector<NamedTensor> tensors;

  NamedTensor& tensor(const std::string& name) {
    for (NamedTensor& found : tensors)
      if (found.name == name) return found;
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
