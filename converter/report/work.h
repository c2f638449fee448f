// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates of a model, computed from its padded matrices.
#pragma once

#include <cstdint>
#include <string>

namespace goldcrest::format {
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest::converter {

struct Work {
  uint64_t token = 0;                // per position of the decoder, projection included: greedy, one sentence
  uint64_t token_per_position = 0;   // plus this for each source or target position that it attends to
  uint64_t source_position = 0;      // per position of the encoder, with the decoder's keys and values of it
  uint64_t source_per_position = 0;  // plus this for each position that it attends to
};

Work work_of(const format::ModelT& model);

// Returns two lines for people.
std::string work_text(const Work& work);

}  // namespace goldcrest::converter
