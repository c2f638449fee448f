// SPDX-License-Identifier: Apache-2.0
// fairseq's dict.LANGUAGE.txt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace goldcrest::converter {

// The first ids of every dictionary.
constexpr uint32_t kFairseqStart = 0, kFairseqPadding = 1, kFairseqEnd = 2, kFairseqUnknown = 3;

// Returns the texts in the order of their ids: the four above, then those of the file's lines. A line is a text, a
// space and a count. Throws Error naming the first line that is not, or that repeats a text.
std::vector<std::string> read_fairseq_dictionary(const std::filesystem::path& path);

}  // namespace goldcrest::converter
