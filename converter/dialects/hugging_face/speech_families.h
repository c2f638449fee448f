// SPDX-License-Identifier: Apache-2.0
// Speech models of Hugging Face.
#pragma once

#include "dialects/config_family.h"

namespace goldcrest::converter {

extern const ConfigFamily kMoonshineFamily, kWhisperFamily;

}  // namespace goldcrest::converter
