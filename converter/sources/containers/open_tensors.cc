// SPDX-License-Identifier: Apache-2.0
// Chooses the container: by content for a file, by the usual names for a directory.
#include <algorithm>
#include <set>
#include <utility>
#include "host/wording.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/input_file.h"
#include "sources/files/zip_directory.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Returns whether a file begins as a pickle; safetensors have a brace after eight bytes.
bool looks_like_pickle(const InputFile& file) {
  const std::string head = file.text(0, std::min<uint64_t>(file.size(), 9));
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5 && !head.ends_with('{');
}

std::unique_ptr<TensorSource> open_file(const std::filesystem::path& path) {
  if (path.extension() == ".json") return open_sharded(path);
  const InputFile file(path);
  const Sniffed sniffed = sniff_file(path);
  if (sniffed.use == Use::kRefused) throw Error("{}", sniffed.text());
  if (sniffed.kind == KindId::kMarianNpz) return open_marian_npz(path);
  if (is_marian_native(sniffed.kind)) return open_marian_binary(path);
  if (sniffed.kind == KindId::kCTranslate2) return open_ctranslate2(std::make_unique<const InputFile>(path));
  if (looks_like_zip(file) || looks_like_pickle(file)) return open_torch_file(path);
  if (path.extension() == ".safetensors" || sniffed.use != Use::kUnknown) return open_safetensors(path);
  throw Error(
      "{}: its content is neither safetensors nor a zip that torch.save wrote; safetensors and PyTorch's zip "
      "(pytorch_model.bin, .pt, .pth) are read",
      path.string());
}

std::unique_ptr<TensorSource> open_directory(const std::filesystem::path& directory) {
  const std::vector<std::filesystem::path> weights = find_weights(directory);
  if (weights.size() == 1) return open_file(weights[0]);
  if (weights.empty()) throw Error("{}", sniff(directory).text());
  std::vector<std::string> names;
  for (const std::filesystem::path& path : weights) names.push_back(path.filename().string());
  throw Error("{}: holds several weight files ({}); give the path of the one to convert", directory.string(),
      list_in_quotes(names, 8));
}
}  // namespace

std::unique_ptr<TensorSource> open_tensors(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::is_directory(status) ? open_directory(path) : open_file(path);
}

namespace {
class CountedTensors : public TensorSource {
 public:
  CountedTensors(std::unique_ptr<TensorSource> tensors, std::function<void(size_t, size_t)> progress)
      : tensors_(std::move(tensors)), progress_(std::move(progress)) {}

  const std::vector<std::string>& names() const override { return tensors_->names(); }
  bool has(const std::string& name) const override { return tensors_->has(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return tensors_->shape(name); }
  Tensor load(const std::string& name) const override {
    Tensor tensor = tensors_->load(name);
    if (loaded_.insert(name).second) progress_(loaded_.size(), names().size());
    return tensor;
  }
  std::filesystem::path file(const std::string& name) const override { return tensors_->file(name); }
  std::vector<std::filesystem::path> files() const override { return tensors_->files(); }
  std::string stored_name(const std::string& name) const override { return tensors_->stored_name(name); }
  Value settings() const override { return tensors_->settings(); }
 private:
  std::unique_ptr<TensorSource> tensors_;
  std::function<void(size_t, size_t)> progress_;
  mutable std::set<std::string> loaded_;
};
}  // namespace

std::unique_ptr<TensorSource> count_loads(
    std::unique_ptr<TensorSource> tensors, std::function<void(size_t done, size_t total)> progress) {
  return std::make_unique<CountedTensors>(std::move(tensors), std::move(progress));
}
}  // namespace goldcrest::converter
