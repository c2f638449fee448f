// SPDX-License-Identifier: Apache-2.0
// What toolkits save beside their tensors.
#pragma once

#include <cstdint>
#include <string>

#include "sources/values/pickle.h"

namespace goldcrest::converter {

// What a toolkit saves beside its tensors, as an object in JSON: "args" and "cfg" (fairseq), "opt" and "vocab"
// (OpenNMT-py), where the root has them. What JSON cannot say is null; an object is that of its attributes. Throws
// Error where the text would be much longer than the pickle.
std::string saved_settings(const PickleDocument& document, uint64_t pickle_bytes, const std::string& where);

}  // namespace goldcrest::converter
