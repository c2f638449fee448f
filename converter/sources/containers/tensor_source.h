// SPDX-License-Identifier: Apache-2.0
// A container of named tensors: safetensors (one file or shards), PyTorch's zip, Marian's .npz or .bin, CTranslate2's
// model.bin. Dialects see only this interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include "sources/values/value.h"

namespace goldcrest::converter {
class InputFile;

struct Tensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> values;  // row-major; F16 and BF16 are widened, integers converted
  bool same_rows = false;     // `values` is one row (of the first axis), and every row equals it (shape_tensors.h)
  // For an int8 tensor: each value is an integer of -127 .. 127 times a scale. There is one scale, or one per row
  // (first axis).
  std::vector<float> stored_scale = {};
};

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // In the container's order.
  virtual const std::vector<std::string>& names() const = 0;
  virtual bool has(const std::string& name) const = 0;
  virtual std::vector<uint64_t> shape(const std::string& name) const = 0;
  // Reads and converts one tensor; a second call reads it again. Throws Error if the tensor is absent or damaged, or if
  // its type has no meaning as float.
  virtual Tensor load(const std::string& name) const = 0;
  // For messages: the file that holds the tensor.
  virtual std::filesystem::path file(const std::string& name) const = 0;
  // The weight files, in shard order. The checkpoint's hash covers them.
  virtual std::vector<std::filesystem::path> files() const = 0;
  // Returns the name under which the tensor is stored, if `name` is an alias; else `name`.
  virtual std::string stored_name(const std::string& name) const { return name; }
  // The settings that the container itself holds, or null: Marian's special:model.yml (a text in YAML), a map of
  // CTranslate2's scalars, or what toolkits save with torch.save (saved_settings.h).
  virtual Value settings() const { return {}; }
};

// One .safetensors file.
std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& path);
// Opens the shards that a *.safetensors.index.json or pytorch_model.bin.index.json lists.
std::unique_ptr<TensorSource> open_sharded(const std::filesystem::path& index);
// A zip or a stream of pickles by torch.save (pytorch_model.bin, .pt, .pth): the tensors of its (possibly
// nested) state dict. Nothing in it is executed.
std::unique_ptr<TensorSource> open_torch_file(const std::filesystem::path& path);
// Marian's own files: a zip of NumPy arrays, and its binary with float32 weights or intgemm's int8 weights. Special
// items are left out. So are the multipliers of activations (*_QuantMultA), because this engine measures activations at
// run time.
std::unique_ptr<TensorSource> open_marian_npz(const std::filesystem::path& path);
std::unique_ptr<TensorSource> open_marian_binary(const std::filesystem::path& path);
// CTranslate2's model.bin. Its scalars and texts are its settings(), with "binary_version", "spec" and "revision".
std::unique_ptr<TensorSource> open_ctranslate2(std::unique_ptr<const InputFile> file);
// Opens `path` as whichever of these its content shows. In a directory, looks for the usual names, safetensors first.
std::unique_ptr<TensorSource> open_tensors(const std::filesystem::path& path);

// Wraps `tensors` and calls the function after each tensor's first load with the number of loaded names and of all
// names.
std::unique_ptr<TensorSource> count_loads(
    std::unique_ptr<TensorSource> tensors, std::function<void(size_t done, size_t total)> progress);
}  // namespace goldcrest::converter
