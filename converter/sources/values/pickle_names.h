// SPDX-License-Identifier: Apache-2.0
// The names that a pickle may ask for, and what stands in for the objects they would make. Every other name is refused.
#pragma once

#include <string_view>

namespace goldcrest::converter {

enum class Makes {
  kUnknown,  // refused
  kDict,
  kDictOfDefaults,  // its argument makes missing values
  kObject,          // a dictionary of its attributes
  kFirstArgument,
  kTensor,     // from (storage, offset, sizes, strides, ...)
  kParameter,  // from a tensor; its other arguments do not matter
  kStorage,    // a type of storage
  kOther,      // something that does not matter here
};

// `name`: "module name".
Makes makes_of(std::string_view name);

}  // namespace goldcrest::converter
