// SPDX-License-Identifier: Apache-2.0
// The texts of special tokens that a tokenizer_config.json names.
#pragma once

#include <string>

#include "dialects/config.h"

namespace goldcrest::converter {

struct SpecialTexts {
  std::string unknown, end, pad;
};

// `usual`: those of the family's tokenizer, where the file does not say.
SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual);

}  // namespace goldcrest::converter
