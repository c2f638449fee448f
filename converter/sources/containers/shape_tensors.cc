// SPDX-License-Identifier: Apache-2.0
#include "sources/containers/shape_tensors.h"
#include <map>
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr float kNextToNothing = 0x1p-100f;  // times 2^24 tensors it is still below every bound of the quantizer

class ShapeTensors : public TensorSource {
 public:
  ShapeTensors(std::vector<ShapedTensor> tensors, std::filesystem::path config) : config_(std::move(config)) {
    for (ShapedTensor& tensor : tensors) {
      if (shapes_.emplace(tensor.name, std::move(tensor.shape)).second) names_.push_back(tensor.name);
      index_.emplace(tensor.name, names_.size());
    }
  }

  const std::vector<std::string>& names() const override { return names_; }
  bool has(const std::string& name) const override { return shapes_.contains(name); }
  std::vector<uint64_t> shape(const std::string& name) const override { return shapes_.at(name); }
  Tensor load(const std::string& name) const override {
    const std::vector<uint64_t>& shape = shapes_.at(name);
    uint64_t row = shape.back();
    for (size_t axis = 1; axis + 1 < shape.size(); ++axis) row *= shape[axis];
    Tensor tensor{name, shape, std::vector<float>(row), shape.size() >= 2};
    tensor.values[0] = kNextToNothing * static_cast<float>(index_.at(name));
    return tensor;
  }
  std::filesystem::path file(const std::string&) const override { return config_; }
  std::vector<std::filesystem::path> files() const override { return {config_}; }
 private:
  std::filesystem::path config_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<uint64_t>> shapes_;
  std::map<std::string, size_t> index_;  // numbers from 1
};
}  // namespace

std::unique_ptr<TensorSource> shape_tensors(
    std::vector<ShapedTensor> tensors, const std::filesystem::path& config, uint64_t most) {
  uint64_t sum = 0;  // cannot overflow: each axis is below 2^25, and there are some thousand tensors
  for (const ShapedTensor& tensor : tensors) {
    uint64_t values = 1;
    for (const uint64_t size : tensor.shape) values *= size;
    sum += values;
  }
  if (sum > most) throw Error("{}: is a model of {} parameters; --shape takes {} at most", config.string(), sum, most);
  return std::make_unique<ShapeTensors>(std::move(tensors), config);
}
}  // namespace goldcrest::converter
