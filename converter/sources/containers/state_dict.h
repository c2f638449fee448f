// SPDX-License-Identifier: Apache-2.0
// Finds the state dict in what torch.save wrote, and checks each tensor's place in its storage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "sources/containers/element_type.h"
#include "sources/values/pickle.h"

namespace goldcrest::converter {
// A tensor as a view of a storage. No two of its elements share a place.
struct StoredTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  std::string storage;  // its key in the file
  uint64_t storage_elements = 0;
  uint64_t offset = 0;                   // elements
  std::vector<uint64_t> shape, strides;  // strides in elements
};

// Returns the type of the elements of "torch FloatStorage" and the like. `subject` begins the message of an Error.
ElementType storage_type(const std::string& global, const std::string& subject);

// Returns the tensors of the dictionary from names to tensors. That is one nested under a usual name ("model",
// "state_dict" ...), else the pickle's root, else the only one there is. OpenNMT-py stores its generator next to its
// model: the generator's tensors get the prefix "generator.". `where` begins the message of an Error.
std::vector<StoredTensor> find_state_dict(const PickleDocument& document, const std::string& where);
}  // namespace goldcrest::converter
