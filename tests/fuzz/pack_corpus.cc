// SPDX-License-Identifier: Apache-2.0
// Converts between libFuzzer's folders, with one file an input, and a corpus file (packed_corpus.h), for tests/fuzz.sh.
// Usage:
//   pack_corpus pack FOLDER FILE      writes FILE from the files of FOLDER
//   pack_corpus unpack FILE FOLDER    writes each input of FILE into FOLDER, under the number of its line
#include "fuzz/packed_corpus.h"

namespace goldcrest::test { namespace {
namespace fs = std::filesystem;

void pack(const fs::path& folder, const fs::path& file) {
  std::vector<std::string> inputs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    if (!stream) throw std::runtime_error(entry.path().string() + ": cannot be read");
  }
  write_corpus(file, inputs);
}

void unpack(const fs::path& file, const fs::path& folder) {
  size_t line = kCorpusHeaderLines;
  for (const std::string& input : read_corpus(file)) {
    const fs::path path = folder / std::to_string(++line);
    std::ofstream stream(path, std::ios::binary);
    if (!stream.write(input.data(), static_cast<std::streamsize>(input.size())).flush())
      throw std::runtime_error(path.string() + ": cannot be written");
  }
}
}}  // namespace goldcrest::test

int main(int argc, char** argv) try {
  const std::string_view command = argc == 4 ? argv[1] : "";
  if (command == "pack") {
    goldcrest::test::pack(argv[2], argv[3]);
  } else if (command == "unpack") {
    goldcrest::test::unpack(argv[2], argv[3]);
  } else {
    std::fprintf(stderr, "usage: %s pack FOLDER FILE | unpack FILE FOLDER\n", argv[0]);
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
