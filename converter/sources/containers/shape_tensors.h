// SPDX-License-Identifier: Apache-2.0
// The tensors of a model that is not trained: names and shapes, and values that are next to nothing.
#pragma once

#include "sources/containers/tensor_source.h"

namespace goldcrest::converter {

struct ShapedTensor {
  std::string name;
  std::vector<uint64_t> shape;
};

// Values quantize to zeros, and no two tensors have the same. A table of two axes costs the memory of one row
// (Tensor::same_rows). `config` tells the shapes, for messages. Throws Error when there are more than `most` values.
std::unique_ptr<TensorSource> shape_tensors(std::vector<ShapedTensor> tensors, const std::filesystem::path& config,
                                            uint64_t most);

}  // namespace goldcrest::converter
