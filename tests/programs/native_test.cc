// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert on Marian's own files: a folder, its file, and the message about a damaged one.
#include <gtest/gtest.h>

#include "programs/models.h"
#include "programs/process.h"
#include "support/marian_native.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

const NativeShape kShape = {12, 8, 16, 2, 1, 1, false};

std::string vocabulary() {
  std::string text = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 12; ++id) text += "word" + std::to_string(id) + ": " + std::to_string(id) + "\n";
  return text;
}

void write_model(const TemporaryFolder& folder, const std::string& name, const std::string& bytes) {
  folder.write("vocab.yml", vocabulary());
  folder.write("decoder.yml", "models: [" + name + "]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: 2\nnormalize: 1\n");
  folder.write(name, bytes);
}

TEST(Native, AFolderAndItsFileGiveTheSameModel) {
  const std::vector<NamedTensor> tensors = native_tensors(kShape, 1);
  const std::string settings = native_settings(kShape);
  const std::pair<const char*, std::string> models[] = {
      {"model.npz", npz_bytes(tensors, settings, true)},
      {"model.bin", binary_bytes(binary_items(tensors, settings, BinaryKind::kInt8WithAlphas))}};
  for (const auto& [name, bytes] : models) {
    const TemporaryFolder folder;
    write_model(folder, name, bytes);
    const Outcome whole = run(convert_program(), {"-q", folder.path(), "-o", folder / "a.gcst"});
    const Outcome file = run(convert_program(), {"-q", name, "-o", "b.gcst"}, {.folder = folder.path()});
    EXPECT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(file.status, 0) << file.err;
    EXPECT_EQ(whole.err, "");
    EXPECT_EQ(read_file(folder / "a.gcst").size(), read_file(folder / "b.gcst").size());
    const Outcome translated = run(translate_program(), {folder / "a.gcst"}, {.input = "word3 word7 other\n"});
    EXPECT_EQ(translated.status, 0) << translated.err;
    EXPECT_EQ(translated.out.find("\u2047"), std::string::npos);  // <unk> is never chosen
    EXPECT_NE(run(inspect_program(), {folder / name}).err.find(": this is a Marian model"), std::string::npos);
  }
}

TEST(Native, ADamagedFileIsNamed) {
  const TemporaryFolder folder;
  const std::string bytes =
      binary_bytes(binary_items(native_tensors(kShape, 1), native_settings(kShape), BinaryKind::kInt8));
  write_model(folder, "model.bin", bytes.substr(0, bytes.size() - 1));
  const size_t settings = native_settings(kShape).size() + 1;
  EXPECT_EQ(run(convert_program(), {"-q", folder.path()}).err,
            "goldcrest-convert: " + (folder / "model.bin").string() + ": tensor \"special:model.yml\": has " +
                std::to_string(settings) + " bytes at byte " + std::to_string(bytes.size() - settings) +
                " of a file of " + std::to_string(bytes.size() - 1) +
                ": it is truncated or damaged; download it again\n");
  folder.write("model.bin", bytes);
  folder.write("decoder.yml", "models: [model.bin]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: [1]\n");
  EXPECT_EQ(run(convert_program(), {"-q", folder.path()}).err,
            "goldcrest-convert: " + (folder / "decoder.yml").string() +
                ": setting \"beam-size\" is a JSON array, expected an integer from 1 to 1000\n");
}

}  // namespace
}  // namespace goldcrest::test
