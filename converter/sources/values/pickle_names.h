// SPDX-License-Identifier: Apache-2.0
// The names that a pickle may ask for, and what stands for what they would make. No other name is accepted.
#pragma once

#include <string_view>

namespace goldcrest::converter {

enum class Makes {
  kUnknown,  // refused
  kDict,
  kDictOfDefaults,  // whose argument makes what it lacks
  kObject,          // a dictionary of the attributes
  kFirstArgument,
  kTensor,     // of (storage, offset, sizes, strides, ...)
  kParameter,  // of a tensor and what does not matter here
  kStorage,    // a type of storages
  kOther,      // something that does not matter here
};

// `name`: "module name".
Makes makes_of(std::string_view name);

}  // namespace goldcrest::converter
