// SPDX-License-Identifier: Apache-2.0
// Reads tensors by name and checks each for its shape and for values that are not finite. Remembers which tensors were
// used and which are missing.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>
#include "sources/containers/shape_tensors.h"
#include "sources/containers/tensor_source.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Removes prefixes of wrappers: DataParallel and DistributedDataParallel put "module." before all names, torch.compile
// puts "_orig_mod." before the names of the module that it compiled.
std::string without_wrappers(std::string name);

class TensorReader {
 public:
  // Lists the tensors that are asked for. They have no values, and has() is false.
  TensorReader() = default;
  bool lists() const { return source_ == nullptr; }
  const std::vector<ShapedTensor>& listed() const { return listed_; }

  // All functions below take names without the prefixes of wrappers ("module.", "_orig_mod.").
  explicit TensorReader(std::shared_ptr<const TensorSource> source);

  bool has(const std::string& name) const { return container_names_.contains(name); }
  const std::vector<std::string>& names() const { return names_; }
  // Throws Error if this tensor is missing, or if an earlier one was. Use it for messages and for sizes that only the
  // checkpoint tells.
  std::vector<uint64_t> shape(const std::string& name) const;
  // For messages: "model.safetensors: tensor "a.weight"".
  std::string describe(const std::string& name) const;

  // A missing tensor has no values. check_missing() later reports all missing tensors at once.
  std::vector<float> vector(const std::string& name, uint32_t n);
  // Equal names, and aliases of them, give the same object. Each matrix is read and checked once, and read again when
  // its values are needed.
  std::shared_ptr<const Matrix> matrix(const std::string& name, uint32_t rows, uint32_t columns);
  // A matrix of any number of rows. The shapes [1, rows, columns] and [rows, 1, columns] also fit.
  std::shared_ptr<const Matrix> table(const std::string& name, uint32_t columns);
  // Returns [rows, columns] from a tensor of [columns, rows].
  std::shared_ptr<const Matrix> transposed(const std::string& name, uint32_t rows, uint32_t columns);
  // Returns [outputs, kernel * channels] from a tensor of [outputs, channels, kernel]: column t * channels + c is the
  // weight of channel c at step t.
  std::shared_ptr<const Matrix> convolution(
      const std::string& name, uint32_t outputs, uint32_t channels, uint32_t kernel);
  // Reads prefix + ".weight" and prefix + ".bias". The weight may be a convolution of width 1, [outputs, inputs, 1].
  // Without a bias the bias is zeros.
  LinearSpec linear(const std::string& prefix, uint32_t outputs, uint32_t inputs, bool has_bias);
  // The same of a convolution over one window: the axes after the first are its inputs.
  LinearSpec window(const std::string& prefix, uint32_t outputs, uint32_t inputs);
  NormSpec norm(const std::string& prefix, uint32_t d_model, bool has_bias, float epsilon);

  // Returns the first table if both have the same shape and values, so that equal tables are stored once; else the
  // second.
  std::shared_ptr<const Matrix> share_if_equal(
      const std::shared_ptr<const Matrix>& first, const std::shared_ptr<const Matrix>& second);

  // Throws one Error that names all tensors that were requested and are missing.
  void check_missing() const;

  std::vector<std::string> unused() const;
 private:
  Tensor load(const std::string& name);
  const std::string& hash_of(const std::shared_ptr<const Matrix>& table);
  // The values of the tensor `name`, which `loaded` is; they are read on demand.
  MatrixValues values(const std::string& name, const Tensor& loaded) const;
  std::shared_ptr<const Matrix> kernel(const std::string& name, uint32_t rows, uint32_t columns);
  bool note_missing(const std::string& name, std::vector<uint64_t> shape);  // returns true if it is missing
  [[noreturn]] void throw_missing(const std::vector<std::string>& missing) const;

  const std::shared_ptr<const TensorSource> source_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> container_names_;  // by the name without prefixes
  std::map<std::string, std::shared_ptr<const Matrix>> matrices_;
  std::map<std::shared_ptr<const Matrix>, std::string> hashes_;
  std::set<std::string> used_;
  std::vector<std::string> missing_;
  std::vector<ShapedTensor> listed_;
};

// Copies the rows [begin, end) to a matrix of their own; it has no values if the whole has none.
std::shared_ptr<const Matrix> slice_rows(const std::shared_ptr<const Matrix>& matrix, uint32_t begin, uint32_t end);
}  // namespace goldcrest::converter
