// SPDX-License-Identifier: Apache-2.0
// The corpus of a fuzz target in one text file: one file in the repository, whose changes can be read line by line.
//
//   # SPDX-License-Identifier: Apache-2.0
//   # Inputs of a fuzz target, one a line in hexadecimal: 2
//   00ff
//   01
//
// The second line ends with the number of inputs. Inputs are unique and in ascending order of their bytes, so the same
// inputs give the same file. The empty input is an empty line.
#pragma once

#include "support/standard.h"

namespace goldcrest::test {
// Lines of a file before its first input.
constexpr size_t kCorpusHeaderLines = 2;

// Sorts the inputs and drops duplicates.
void write_corpus(const std::filesystem::path& file, std::vector<std::string> inputs);

// Input i is line kCorpusHeaderLines + 1 + i. Refuses any file that write_corpus would not write: throws
// std::runtime_error with the file, the place, what was found and what was expected.
std::vector<std::string> read_corpus(const std::filesystem::path& file);
}  // namespace goldcrest::test
