// SPDX-License-Identifier: Apache-2.0
// Identifies a folder: the weights in it, the model that its config.json names, or a list of what it has instead.
#include <algorithm>

#include "host/wording.h"
#include "sources/sniffing/peek.h"
#include "sources/sniffing/sniff.h"

namespace goldcrest::converter {
namespace {

namespace fs = std::filesystem;
using Extensions = std::vector<std::string>;

constexpr const char* kLookedFor =
    "model.safetensors, pytorch_model.bin, an index.json of their shards, or one other .safetensors, .pt, .pth, .bin "
    "or .npz file";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error) || fs::exists(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> files_with(const fs::path& folder, const Extensions& extensions) {
  std::vector<fs::path> files;
  for (const std::string& name : names_in(folder)) {
    const std::string extension = fs::path(name).extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end() && !is_folder(folder / name)) {
      files.push_back(folder / name);
    }
  }
  return files;
}

// Firefox stores its models next to their shortlists, which are .bin files too.
std::vector<fs::path> without_shortlists(std::vector<fs::path> files) {
  constexpr uint64_t kHeadBytes = 16;
  std::erase_if(files, [](const fs::path& file) {
    return kind_of_head(Peek(file).text(0, kHeadBytes)) == KindId::kMarianShortlist;
  });
  return files;
}

// Returns the first file that is refused; unknown if there is none or if some file has weights.
Sniffed first_refused(const std::vector<fs::path>& files) {
  constexpr size_t kMost = 16;
  Sniffed result;
  for (size_t i = 0; i < std::min(files.size(), kMost); ++i) {
    Sniffed sniffed = sniff_file(files[i]);
    if (sniffed.use == Use::kConvert || sniffed.use == Use::kOtherFamily) return {};
    if (result.use == Use::kUnknown) result = std::move(sniffed);
  }
  return result;
}

std::string contents(const fs::path& folder) {
  constexpr size_t kMost = 8;
  const std::vector<std::string> names = names_in(folder);
  return names.empty() ? "it is empty" : "it holds " + list_in_quotes(names, kMost);
}

// Returns a folder inside this one that has a checkpoint, or "".
std::string checkpoint_below(const fs::path& folder) {
  for (const std::string& name : names_in(folder)) {
    if (is_folder(folder / name) && is_there(folder / name / "config.json") && !find_weights(folder / name).empty()) {
      return name;
    }
  }
  return "";
}

Sniffed without_weights(const fs::path& folder, const std::vector<fs::path>& others) {
  Sniffed result = {KindId::kNoWeights, Use::kNoWeights, folder, "holds no weights",
                    std::string("expected ") + kLookedFor + "; " + contents(folder)};
  if (!others.empty()) {
    result.description = "holds weights only in formats that are not read";
    result.advice += "; save the model with PyTorch";
  } else if (!is_there(folder / "config.json")) {
    result.where = folder / "config.json";
    result.description = "is missing";
    result.advice =
        "the folder holds no weights either: expected config.json (of a PyTorch nn.Transformer: "
        "converter/dialects/NN_TRANSFORMER.md), and " +
        std::string(kLookedFor) + "; " + contents(folder);
  }
  const std::string below = checkpoint_below(folder);
  if (!below.empty()) result.advice += "; there is a checkpoint in " + in_quotes(below) + ": give that folder";
  return result;
}

}  // namespace

std::vector<std::string> names_in(const fs::path& folder) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end && names.size() < kMost;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> find_weights(const fs::path& folder) {
  for (const char* name :
       {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (is_there(folder / name)) return {folder / name};
  }
  for (const Extensions& extensions : {Extensions{".safetensors"}, {".pt", ".pth", ".bin"}, {".npz"}}) {
    std::vector<fs::path> files = without_shortlists(files_with(folder, extensions));
    if (!files.empty()) return files;
  }
  return files_with(folder, {".bin"});
}

Sniffed sniff(const fs::path& path) {
  if (!is_folder(path)) return sniff_file(path);
  const fs::path unpacked = path / "model" / "model.bin";
  if (is_there(path / "metadata.json") && is_there(unpacked)) return sniff_file(unpacked);
  const std::vector<fs::path> weights = find_weights(path);
  Sniffed refused = first_refused(weights);
  if (refused.use != Use::kUnknown) return refused;

  const fs::path config = path / "config.json";
  const KindId family = family_of_type(json_text_of(Peek(config).text(0, kMaxPeekBytes), "model_type"));
  if (family != KindId::kUnknown) return sniffed_as(family, config);
  if (weights.size() == 1) return sniff_file(weights[0]);
  if (!weights.empty()) return sniffed_as(KindId::kUnknown, path);

  const std::vector<fs::path> others =
      files_with(path, {".npz", ".onnx", ".gguf", ".ggml", ".h5", ".keras", ".tflite", ".ckpt", ".pb", ".index", ".zip",
                        ".tar", ".gz", ".tgz", ".nemo", ".pt2", ".pkl", ".msgpack", ".ot"});
  Sniffed other = first_refused(others);
  return other.use != Use::kUnknown ? other : without_weights(path, others);
}

}  // namespace goldcrest::converter
