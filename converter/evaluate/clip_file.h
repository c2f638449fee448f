// SPDX-License-Identifier: Apache-2.0
// Clips of an evaluation of a model of speech, and their texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace goldcrest::converter {

// Returns the samples of a WAV file as one channel of `sample_rate` samples a second. Throws Error for any other file,
// with the command that converts it.
std::vector<int16_t> read_clip(const std::filesystem::path& path, uint32_t sample_rate);

// Returns the words of a text for word error rates: ASCII letters in lower case, no ASCII punctuation, single spaces.
std::string spoken_words(const std::string& text);

}  // namespace goldcrest::converter
