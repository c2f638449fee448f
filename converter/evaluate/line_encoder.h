// SPDX-License-Identifier: Apache-2.0
// Converts lines of text, or of ids, to the ids that a model reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/spec.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter {

class LineEncoder {
 public:
  // `of_ids`: lines are ids (id_lines.h). Otherwise the model must have both tokenizers.
  LineEncoder(const ModelSpec& spec, bool of_ids);

  // The results include the ids around a source, and the end id after a target. Both throw Error.
  std::vector<int32_t> source(const std::string& line) const;
  std::vector<int32_t> target(const std::string& line) const;

 private:
  const ModelSpec& spec_;
  std::optional<Segmenter> source_, target_;  // absent if lines are ids
};

}  // namespace goldcrest::converter
