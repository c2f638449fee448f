// SPDX-License-Identifier: Apache-2.0
// Runs a tokenizer in the converter with the engine's own code and without a model file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>
#include "model/tokenizer_view.h"
#include "tokenizers/pack_tokenizer.h"

namespace goldcrest::converter {
// The view points into `packed`.
TokenizerView view_of(const PackedTokenizer& packed);

class Segmenter {
 public:
  // Throws Error as pack_tokenizer does.
  explicit Segmenter(const TokenizerSpec& spec) : packed_(pack_tokenizer(spec)) {}

  // Returns the ids of a text of any length, without those that a model puts before or after it. Throws Error if the
  // text is longer than the segmenter supports (kBpeMaxNormalizedBytes).
  std::vector<int32_t> encode(std::string_view text) const;
 private:
  PackedTokenizer packed_;
};
}  // namespace goldcrest::converter
