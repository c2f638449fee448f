// SPDX-License-Identifier: Apache-2.0
// A container of named tensors: safetensors (one file or shards), PyTorch's zip, Marian's .npz or .bin, CTranslate2's
// model.bin. Dialects see only this.
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
  bool same_rows = false;     // of two axes: the values are one row, which every row has (shape_tensors.h)
  // Of an int8 tensor: each value is an integer of -127 .. 127 times the only scale, or its row's (of the first axis).
  std::vector<float> stored_scale = {};
};

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // In the container's order.
  virtual const std::vector<std::string>& names() const = 0;
  virtual bool has(const std::string& name) const = 0;
  virtual std::vector<uint64_t> shape(const std::string& name) const = 0;
  // Reads and converts one tensor, also for the second time. Throws Error when it is absent, damaged, or of a type that
  // has no float meaning.
  virtual Tensor load(const std::string& name) const = 0;
  // For messages: the file that holds the tensor.
  virtual std::filesystem::path file(const std::string& name) const = 0;
  // The weight files, in shard order; the checkpoint's hash is taken over them.
  virtual std::vector<std::filesystem::path> files() const = 0;
  // The name that it is stored under, of which the given one may be an alias.
  virtual std::string stored_name(const std::string& name) const { return name; }
  // The settings that the container itself holds: Marian's special:model.yml, a text in YAML, a map of CTranslate2's
  // scalars, or of what toolkits save with torch.save (saved_settings.h); null where it has none.
  virtual Value settings() const { return {}; }
};

// One .safetensors file.
std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& path);
// Shards by a *.safetensors.index.json or pytorch_model.bin.index.json.
std::unique_ptr<TensorSource> open_sharded(const std::filesystem::path& index);
// A zip written by torch.save (pytorch_model.bin, .pt, .pth): tensors of the (possibly nested) state dict; executes
// nothing.
std::unique_ptr<TensorSource> open_torch_zip(const std::filesystem::path& path);
// Marian's own files: a zip of NumPy arrays, and its binary with float32 or intgemm's int8 weights. Without the special
// items and without the multipliers of activations (*_QuantMultA): this engine measures activations as they come.
std::unique_ptr<TensorSource> open_marian_npz(const std::filesystem::path& path);
std::unique_ptr<TensorSource> open_marian_binary(const std::filesystem::path& path);
// CTranslate2's model.bin. Its scalars and texts are its settings(), with "binary_version", "spec" and "revision".
std::unique_ptr<TensorSource> open_ctranslate2(std::unique_ptr<const InputFile> file);
// Whichever of these `path` is, by content; a directory is searched for the usual names, safetensors first.
std::unique_ptr<TensorSource> open_tensors(const std::filesystem::path& path);

// `tensors`, telling after each tensor's first load how many there were of how many names.
std::unique_ptr<TensorSource> count_loads(std::unique_ptr<TensorSource> tensors,
                                          std::function<void(size_t done, size_t total)> progress);

}  // namespace goldcrest::converter
