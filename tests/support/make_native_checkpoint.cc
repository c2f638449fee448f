// SPDX-License-Identifier: Apache-2.0
// Writes a small student of Marian's own kind, int8 with recurrent layers, with seeded random weights and the pieces of
// the English-French example: make_native_checkpoint DIR
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "support/marian_native.h"

namespace {

namespace fs = std::filesystem;
using namespace goldcrest::test;

constexpr NativeShape kShape = {5999, 48, 80, 3, 2, 2, true};
constexpr uint64_t kSeed = 15;

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write(const fs::path& folder) {
  fs::create_directories(folder);
  const auto items = binary_items(native_tensors(kShape, kSeed), native_settings(kShape), BinaryKind::kInt8WithAlphas);
  write_file(folder / "model.bin", binary_bytes(items));
  write_file(folder / "decoder.yml",
             "models: [model.bin]\nvocabs: [vocab.spm, vocab.spm]\nbeam-size: 1\nnormalize: 1\nmax-length: 32\n");
  fs::copy_file(fs::path(GOLDCREST_SOURCE_DIR) / "examples/models/enfr/source.spm", folder / "vocab.spm",
                fs::copy_options::overwrite_existing);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::cerr << "usage: make_native_checkpoint DIR\n";
    return 2;
  }
  try {
    write(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "make_native_checkpoint: " << error.what() << "\n";
    return 1;
  }
}
