// SPDX-License-Identifier: Apache-2.0
// fairseq's dict.LANGUAGE.txt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace goldcrest::converter {

// The ids that every dictionary begins with.
constexpr uint32_t kFairseqStart = 0, kFairseqPadding = 1, kFairseqEnd = 2, kFairseqUnknown = 3;

// The texts in the order of their ids: the four above, then those of the file's lines, of which each is a text, a space
// and how often it was seen. Throws Error naming the first line that is not, or has a text again.
std::vector<std::string> read_fairseq_dictionary(const std::filesystem::path& path);

}  // namespace goldcrest::converter
