// SPDX-License-Identifier: Apache-2.0
// A small model of Marian's own with its decoder's YAML and a vocabulary of words, which tests change before they load
// it.
#pragma once

#include <string>
#include <vector>

#include "convert/support/tensor_list.h"
#include "converter/dialects/dialect.h"
#include "spec/format_text.h"
#include "support/marian_native.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {

struct NativeFolder : TensorList {
  TemporaryFolder folder;
  NativeShape shape = {12, 8, 16, 2, 2, 2, true};
  std::string settings = native_settings(shape);
  std::string decoder =
      "relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\nbeam-size: 4\n"
      "normalize: 0.6\nword-penalty: 0.1\nmini-batch: 64\n";

  NativeFolder() {
    tensors = native_tensors(shape, 1);
    std::string vocabulary = "</s>: 0\n<unk>: 1\n";
    for (int id = 2; id < 12; ++id) vocabulary += converter::format_text("word{0}: {0}\n", id);
    folder.write("vocab.yml", vocabulary);
  }
  NativeFolder(const NativeFolder&) = delete;

  // Replaces the value of "KEY: OLD", and a list on the lines after it, by VALUE.
  void set(const std::string& key, const std::string& value) {
    const size_t at = settings.find("\n" + key + ":") + 1;
    if (at == 0) {
      settings += key + ": " + value + "\n";
    } else {
      size_t end = settings.find('\n', at);
      while (settings.compare(end, 5, "\n  - ") == 0) end = settings.find('\n', end + 1);
      settings.replace(at, end - at, key + ": " + value);
    }
  }
  std::string file(const std::string& name) const { return (folder / name).string(); }
  converter::ModelSpec load() const {
    folder.write("model.npz", npz_bytes(tensors, settings));
    if (!decoder.empty()) folder.write("decoder.yml", decoder);
    return converter::load_checkpoint(folder.path(), {});
  }
};

}  // namespace goldcrest::test
