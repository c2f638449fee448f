// SPDX-License-Identifier: Apache-2.0
// The texts of special tokens that a tokenizer_config.json names.
#pragma once

#include <string>

#include "dialects/config.h"

namespace goldcrest::converter {

struct SpecialTexts {
  std::string unknown, end, pad;
};

// `usual` has the texts of the family's tokenizer, for those that the file does not name.
SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual);

}  // namespace goldcrest::converter
