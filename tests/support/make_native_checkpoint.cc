// SPDX-License-Identifier: Apache-2.0
// Writes a small student of Marian's own kind: int8, recurrent layers, seeded random weights and the pieces of the
// English-French example. listed.yml has the settings of Firefox's students, with a shortlist:
// make_native_checkpoint DIR
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "support/marian_native.h"
#include "support/rng.h"

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

// Returns lists with a few random target ids for each source id.
std::string random_shortlist() {
  Rng rng(kSeed);
  BinaryLists lists = {60, {0}, {}};
  for (uint32_t source = 0; source < kShape.vocab_size; ++source) {
    std::set<uint32_t> ids;
    for (int i = 0; i < 8; ++i) ids.insert(rng.below(kShape.vocab_size));
    lists.ids.insert(lists.ids.end(), ids.begin(), ids.end());
    lists.offsets.push_back(lists.ids.size());
  }
  return lists.bytes();
}

void write(const fs::path& folder) {
  fs::create_directories(folder);
  const auto items = binary_items(native_tensors(kShape, kSeed), native_settings(kShape), BinaryKind::kInt8WithAlphas);
  write_file(folder / "model.bin", binary_bytes(items));
  const std::string settings =
      "models: [model.bin]\nvocabs: [vocab.spm, vocab.spm]\nbeam-size: 1\nnormalize: 1\nmax-length: 32\n";
  write_file(folder / "model.bin.decoder.yml", settings);
  write_file(folder / "listed.yml", settings + "max-length-factor: 2.5\nshortlist: [lex.bin, false]\n");
  write_file(folder / "lex.bin", random_shortlist());
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
