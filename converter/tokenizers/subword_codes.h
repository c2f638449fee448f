// SPDX-License-Identifier: Apache-2.0
// Files of subword-nmt's merges ("codes"), versions 0.1 and 0.2, and fastBPE's. The latter are version 0.2 with a count
// on each line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
struct SubwordCodes {
  std::string where;  // the file, for messages
  std::vector<Merge> merges;
  bool word_end_apart = false;  // version 0.1, also if the file has no version
};

constexpr uint64_t kMaxCodesBytes = uint64_t{16} << 20;

// Returns the merges in the file's order, without duplicates. Throws Error naming the first line that is not a merge.
SubwordCodes parse_subword_codes(std::string_view content, const std::string& where);
}  // namespace goldcrest::converter
