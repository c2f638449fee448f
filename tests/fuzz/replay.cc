// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target on the inputs of a folder, with any compiler. Usage: replay_TARGET FOLDER [LEAST_INPUTS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/script.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [LEAST_INPUTS]\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  for (const std::filesystem::path& path : inputs) {
    std::ifstream stream(path, std::ios::binary);
    const std::vector<char> input{std::istreambuf_iterator<char>(stream), {}};
    // A copy of just that size, so that reads behind it are found.
    const std::vector<uint8_t> bytes(input.begin(), input.end());
    std::fprintf(stderr, "%s\n", path.filename().c_str());  // whose is a fault
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.size() >= (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1) ? 0 : 1;
}
