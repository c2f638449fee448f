// SPDX-License-Identifier: Apache-2.0
// Chooses the container: by content for a file, by the usual names for a directory.
#include <algorithm>

#include "sources/input_file.h"
#include "sources/messages.h"
#include "sources/tensor_source.h"
#include "sources/zip_directory.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr const char* kFormats = "safetensors and PyTorch's zip (pytorch_model.bin, .pt, .pth)";

std::unique_ptr<TensorSource> open_file(const std::filesystem::path& path) {
  if (path.extension() == ".json") return open_sharded(path);
  const InputFile file(path);
  refuse_stand_in(file);
  if (looks_like_zip(file)) return open_torch_zip(path);
  const std::string head = file.text(0, std::min<uint64_t>(file.size(), 265));
  const bool is_pickle = head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5;
  const bool is_tar = head.find("ustar") == 257;
  if (is_pickle || is_tar) {
    throw Error(
        "{}: this is a pickle without a zip, PyTorch's format from before version 1.6, which is not read; load it in "
        "PyTorch and save it again with torch.save, or convert it to safetensors",
        path.string());
  }
  if (path.extension() == ".safetensors" || (head.size() > 8 && head[8] == '{')) return open_safetensors(path);
  throw Error("{}: its content is neither safetensors nor a zip that torch.save wrote; {} are read", path.string(),
              kFormats);
}

std::vector<std::string> weight_files(const std::filesystem::path& directory,
                                      const std::vector<std::string>& extensions) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string extension = entry.path().extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<TensorSource> open_directory(const std::filesystem::path& directory) {
  for (const char* name :
       {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    const std::filesystem::path path = directory / name;
    if (std::filesystem::is_symlink(path) || std::filesystem::exists(path)) return open_file(path);
  }
  for (const auto& extensions : {std::vector<std::string>{".safetensors"}, {".pt", ".pth", ".bin"}}) {
    const std::vector<std::string> names = weight_files(directory, extensions);
    if (names.size() == 1) return open_file(directory / names[0]);
    if (names.size() > 1) {
      throw Error("{}: holds several weight files ({}); give the path of the one to convert", directory.string(),
                  list_in_quotes(names, 8));
    }
  }
  const auto others = weight_files(directory, {".h5", ".msgpack", ".ot", ".onnx", ".gguf", ".npz", ".ckpt", ".tflite"});
  if (!others.empty()) {
    throw Error("{}: holds weights only in formats that are not read ({}); {} are: save the model with PyTorch",
                directory.string(), list_in_quotes(others, 8), kFormats);
  }
  throw Error(
      "{}: holds no weights: expected model.safetensors, pytorch_model.bin, an index.json of their shards, or one "
      "other .safetensors, .pt, .pth or .bin file",
      directory.string());
}

}  // namespace

std::unique_ptr<TensorSource> open_tensors(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::is_directory(status) ? open_directory(path) : open_file(path);
}

}  // namespace goldcrest::converter
