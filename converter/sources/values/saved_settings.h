// SPDX-License-Identifier: Apache-2.0
// The settings that toolkits save with their tensors.
#pragma once

#include <cstdint>
#include <string>

#include "sources/values/pickle.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

// A map of "args" and "cfg" (fairseq), "opt" and "vocab" (OpenNMT-py), where the root has them. What no Value can say
// is null; an object is the map of its attributes, and maps are sorted by key. Throws Error where the settings as a
// text would be much longer than the pickle.
Value saved_settings(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where);

}  // namespace goldcrest::converter
