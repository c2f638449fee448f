// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on the inputs of a corpus, with any compiler. Usage: replay_TARGET FILE
#include "fuzz/packed_corpus.h"
#include "fuzz/script.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::vector<std::string> inputs;
  try {
    inputs = goldcrest::test::read_corpus(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  size_t line = goldcrest::test::kCorpusHeaderLines;
  for (const std::string& input : inputs) {
    // A copy of exactly this size, so that reads past its end are found.
    const std::vector<uint8_t> bytes(input.begin(), input.end());
    std::fprintf(stderr, "%s: line %zu\n", argv[1], ++line);  // names the input before a fault
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
