// SPDX-License-Identifier: Apache-2.0
// The settings that toolkits save with their tensors.
#pragma once

#include <cstdint>
#include <string>
#include "sources/values/pickle.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
// Returns a map of "args" and "cfg" (fairseq), "opt" and "vocab" (OpenNMT-py), as far as the root has these keys. A
// value that no Value can represent becomes null. An object becomes the map of its attributes, and maps are sorted by
// key. Throws Error if the settings as text would be much longer than the pickle.
Value saved_settings(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where);
}  // namespace goldcrest::converter
