// SPDX-License-Identifier: Apache-2.0
// Wraps a tensor source and reports progress after each tensor that is read from it.
#include <set>
#include <utility>

#include "sources/containers/tensor_source.h"

namespace goldcrest::converter {
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

std::unique_ptr<TensorSource> count_loads(std::unique_ptr<TensorSource> tensors,
                                          std::function<void(size_t done, size_t total)> progress) {
  return std::make_unique<CountedTensors>(std::move(tensors), std::move(progress));
}

}  // namespace goldcrest::converter
