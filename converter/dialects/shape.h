// SPDX-License-Identifier: Apache-2.0
// What each family's checkpoint will hold, from its config.json alone.
#pragma once

#include <vector>

#include "dialects/config.h"
#include "sources/containers/shape_tensors.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

std::vector<ShapedTensor> marian_tensors(const Config& config);

// Without biases, which a file has in any case. Sizes that the weights tell a conversion must be settings here.
std::vector<ShapedTensor> nn_transformer_tensors(const Config& config);

// Names for the tensors that config.json does not name: they say nothing of a size.
void name_nn_transformer_tensors(Value& config);

}  // namespace goldcrest::converter
