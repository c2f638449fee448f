// SPDX-License-Identifier: Apache-2.0
// Tensors by name, each checked for shape and for values that are not finite; remembers which were used and which are
// missing.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sources/containers/tensor_source.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// DataParallel and DistributedDataParallel put "module." in front of all names, torch.compile "_orig_mod." before the
// names of the module that it compiled.
std::string without_wrappers(std::string name);

class TensorReader {
 public:
  // Names without the prefixes that wrappers add ("module.", "_orig_mod.") are what every function below takes.
  explicit TensorReader(std::shared_ptr<const TensorSource> source);

  bool has(const std::string& name) const { return container_names_.contains(name); }
  const std::vector<std::string>& names() const { return names_; }
  // Throws Error when the tensor is missing, or others were. For messages and for sizes that only the checkpoint tells.
  std::vector<uint64_t> shape(const std::string& name) const;
  // "model.safetensors: tensor "a.weight"", for messages.
  std::string describe(const std::string& name) const;

  // A tensor that is missing is without values, until check_missing() tells of all at once.
  std::vector<float> vector(const std::string& name, uint32_t n);
  // The same name, and aliases of it, give the same object. Each matrix is read once, checked, and read again when its
  // values are asked for.
  std::shared_ptr<const Matrix> matrix(const std::string& name, uint32_t rows, uint32_t columns);
  // A matrix of any number of rows; [1, rows, columns] and [rows, 1, columns] will do.
  std::shared_ptr<const Matrix> table(const std::string& name, uint32_t columns);
  // [rows, columns] of a tensor of [columns, rows].
  std::shared_ptr<const Matrix> transposed(const std::string& name, uint32_t rows, uint32_t columns);
  // prefix + ".weight", also of a convolution of width 1, [outputs, inputs, 1], and ".bias"; without a bias it is
  // zeros.
  LinearSpec linear(const std::string& prefix, uint32_t outputs, uint32_t inputs, bool has_bias);
  NormSpec norm(const std::string& prefix, uint32_t d_model, bool has_bias, float epsilon);

  // The first table when both have the same shape and values, so that equal tables are stored once; else the second.
  std::shared_ptr<const Matrix> share_if_equal(const std::shared_ptr<const Matrix>& first,
                                               const std::shared_ptr<const Matrix>& second);

  // Throws one Error that names all tensors that were asked for and are missing.
  void check_missing() const;

  std::vector<std::string> unused() const;

 private:
  Tensor load(const std::string& name);
  const std::string& hash_of(const std::shared_ptr<const Matrix>& table);
  // Of `loaded`, which is `name`, when they are asked for.
  MatrixValues values(const std::string& name, const Tensor& loaded) const;
  std::shared_ptr<const Matrix> kernel(const std::string& name, uint32_t rows, uint32_t columns);
  bool note_missing(const std::string& name);  // whether it is missing
  [[noreturn]] void throw_missing(const std::vector<std::string>& missing) const;

  const std::shared_ptr<const TensorSource> source_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> container_names_;  // by the name without prefixes
  std::map<std::string, std::shared_ptr<const Matrix>> matrices_;
  std::map<std::shared_ptr<const Matrix>, std::string> hashes_;
  std::set<std::string> used_;
  std::vector<std::string> missing_;
};

// The rows [begin, end) as a matrix of their own; without values where the whole has none.
std::shared_ptr<const Matrix> slice_rows(const std::shared_ptr<const Matrix>& matrix, uint32_t begin, uint32_t end);

}  // namespace goldcrest::converter
