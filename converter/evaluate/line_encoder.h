// SPDX-License-Identifier: Apache-2.0
// Lines of text, or of ids, as the ids that a model reads and writes.
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
  // `of_ids`: lines are ids (id_lines.h). Else the model has both tokenizers.
  LineEncoder(const ModelSpec& spec, bool of_ids);

  // With the ids around a source, and with the end id after a target. Throw Error.
  std::vector<int32_t> source(const std::string& line) const;
  std::vector<int32_t> target(const std::string& line) const;

 private:
  const ModelSpec& spec_;
  std::optional<Segmenter> source_, target_;  // none of ids
};

}  // namespace goldcrest::converter
