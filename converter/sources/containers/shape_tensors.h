// SPDX-License-Identifier: Apache-2.0
// The tensors of an untrained model: names and shapes, with tiny values.
#pragma once

#include "sources/containers/tensor_source.h"

namespace goldcrest::converter {
struct ShapedTensor {
  std::string name;
  std::vector<uint64_t> shape;
};

// The values quantize to zeros, and no two tensors have equal values. A table costs the memory of one row
// (Tensor::same_rows). `config` is the file that the shapes come from, for messages. Throws Error if there are more
// than `most` values.
std::unique_ptr<TensorSource> shape_tensors(
    std::vector<ShapedTensor> tensors, const std::filesystem::path& config, uint64_t most);
}  // namespace goldcrest::converter
