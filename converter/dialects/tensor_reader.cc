// SPDX-License-Identifier: Apache-2.0
// Reads tensors by name and checks each for its shape and for values that are not finite. Remembers which tensors were
// used and which are missing.
#include "dialects/tensor_reader.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include "base/bounds.h"
#include "host/wording.h"
#include "sources/files/sha256.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Returns the position of the i-th element, for instance "[3, 17]".
std::string position_text(const std::vector<uint64_t>& shape, uint64_t i) {
  std::vector<uint64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; i /= shape[axis]) position[axis] = i % shape[axis];
  return shape_text(position);
}

// Returns the scale of each of the matrix's rows. Returns none if its rows are not the tensor's rows and the tensor has
// several scales.
std::vector<float> row_scales(const Tensor& tensor, uint64_t rows, bool rows_are_its_own) {
  const std::vector<float>& stored = tensor.stored_scale;
  if (stored.size() == 1) return std::vector<float>(rows, stored[0]);
  return rows_are_its_own ? stored : std::vector<float>();
}
}  // namespace

std::string without_wrappers(std::string name) {
  const std::string compiled = "_orig_mod.", parallel = "module.";
  while (name.starts_with(compiled) || name.starts_with(parallel)) name.erase(0, name.find('.') + 1);
  for (size_t at; (at = name.find("." + compiled)) != std::string::npos;) name.erase(at, compiled.size());
  return name;
}

TensorReader::TensorReader(std::shared_ptr<const TensorSource> source) : source_(std::move(source)) {
  for (const std::string& container_name : source_->names()) {
    const std::string name = without_wrappers(container_name);
    const auto [other, is_new] = container_names_.emplace(name, container_name);
    if (!is_new) {
      throw Error("{}: the tensors {} and {} have the same name once \"module.\" and \"_orig_mod.\" are stripped",
          source_->file(container_name).string(), in_quotes(other->second), in_quotes(container_name));
    }
    names_.push_back(name);
  }
}

std::string TensorReader::describe(const std::string& name) const {
  const auto found = container_names_.find(name);
  const std::string& shown = found == container_names_.end() ? name : found->second;
  return format_text("{}: tensor {}", source_->file(shown).string(), in_quotes(shown));
}

std::vector<uint64_t> TensorReader::shape(const std::string& name) const {
  const auto found = container_names_.find(name);
  if (found == container_names_.end()) {
    std::vector<std::string> missing = missing_;
    missing.push_back(name);
    throw_missing(missing);
  }
  return source_->shape(found->second);
}

void TensorReader::throw_missing(const std::vector<std::string>& missing) const {
  constexpr size_t kMostNamed = 6, kMostGuessed = 2;
  const std::vector<std::filesystem::path> files = source_->files();
  std::string text = format_text("{}: tensor {} is missing",
      (files.size() == 1 ? files[0] : files[0].parent_path()).string(), in_quotes(missing[0]));
  const std::vector<std::string> others(missing.begin() + 1, missing.end());
  if (!others.empty()) text += format_text(", and {} more: {}", others.size(), list_in_quotes(others, kMostNamed));
  std::vector<std::string> near;
  for (size_t i = 0; i < std::min(missing.size(), kMostGuessed); ++i) {
    const std::string name = nearest(missing[i], names_);
    if (!name.empty() && std::find(near.begin(), near.end(), name) == near.end()) near.push_back(name);
  }
  if (!near.empty()) text += "; the nearest names that it has: " + list_in_quotes(near, kMostGuessed);
  throw Error("{}", text);
}

void TensorReader::check_missing() const {
  if (!missing_.empty()) throw_missing(missing_);
}

bool TensorReader::note_missing(const std::string& name, std::vector<uint64_t> shape) {
  if (has(name)) return false;
  if (lists()) listed_.push_back({name, std::move(shape)});
  else if (std::find(missing_.begin(), missing_.end(), name) == missing_.end()) missing_.push_back(name);
  return true;
}

Tensor TensorReader::load(const std::string& name) {
  used_.insert(name);
  Tensor tensor = source_->load(container_names_.at(name));
  const auto bad = std::find_if(tensor.values.begin(), tensor.values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != tensor.values.end()) {
    throw Error(
        "{} has the value {} at {}, expected finite numbers; the checkpoint is damaged or its training diverged",
        describe(name), *bad, position_text(tensor.shape, static_cast<uint64_t>(bad - tensor.values.begin())));
  }
  return tensor;
}

MatrixValues TensorReader::values(const std::string& name, const Tensor& loaded) const {
  const auto read = [source = source_, stored = container_names_.at(name)] { return source->load(stored).values; };
  return {loaded.values.size(), read};
}

std::vector<float> TensorReader::vector(const std::string& name, uint32_t n) {
  if (note_missing(name, {n})) return {};
  const std::vector<uint64_t> found = shape(name);
  const bool fits = !found.empty() && found.back() == n &&
                    std::all_of(found.begin(), found.end() - 1, [](uint64_t s) { return s == 1; });
  if (!fits) throw Error("{} has shape {}, expected [{}]", describe(name), shape_text(found), n);
  return std::move(load(name).values);
}

std::shared_ptr<const Matrix> TensorReader::matrix(const std::string& name, uint32_t rows, uint32_t columns) {
  if (note_missing(name, {rows, columns})) return std::make_shared<const Matrix>(Matrix{name, rows, columns, {}});
  const std::vector<uint64_t> found = shape(name);
  if (found != std::vector<uint64_t>{rows, columns})
    throw Error("{} has shape {}, expected [{}, {}]", describe(name), shape_text(found), rows, columns);
  return table(name, columns);
}

std::shared_ptr<const Matrix> TensorReader::table(const std::string& name, uint32_t columns) {
  const std::vector<uint64_t> found = shape(name);
  uint64_t rows = 1;
  size_t long_axes = 0;  // before the last one; at most one is allowed
  for (size_t axis = 0; axis + 1 < found.size(); ++axis) {
    rows *= found[axis];
    long_axes += found[axis] != 1;
  }
  if (found.size() < 2 || found.back() != columns || long_axes > 1 || rows == 0 || rows > kMaxVocabulary)
    throw Error("{} has shape {}, expected [rows, {}]", describe(name), shape_text(found), columns);
  used_.insert(name);
  std::shared_ptr<const Matrix>& result = matrices_[source_->stored_name(container_names_.at(name))];
  if (!result) {
    const Tensor tensor = load(name);
    result = std::make_shared<const Matrix>(Matrix{name, static_cast<uint32_t>(rows), columns, values(name, tensor),
        tensor.same_rows, row_scales(tensor, rows, true)});
  }
  return result;
}

std::shared_ptr<const Matrix> TensorReader::transposed(const std::string& name, uint32_t rows, uint32_t columns) {
  if (note_missing(name, {columns, rows})) return std::make_shared<const Matrix>(Matrix{name, rows, columns, {}});
  const std::vector<uint64_t> found = shape(name);
  if (found != std::vector<uint64_t>{columns, rows})
    throw Error("{} has shape {}, expected [{}, {}]", describe(name), shape_text(found), columns, rows);
  const Tensor loaded = load(name);
  const auto read = [rows, columns, as_stored = values(name, loaded)] {
    std::vector<float> result(size_t{rows} * columns);
    for (size_t c = 0; c < columns; ++c)
      for (size_t r = 0; r < rows; ++r) result[r * columns + c] = as_stored.data()[c * rows + r];
    as_stored.release();
    return result;
  };
  return std::make_shared<const Matrix>(
      Matrix{name, rows, columns, MatrixValues(loaded.values.size(), read), false, row_scales(loaded, rows, false)});
}

std::shared_ptr<const Matrix> TensorReader::convolution(
    const std::string& name, uint32_t outputs, uint32_t channels, uint32_t kernel) {
  const uint32_t columns = channels * kernel;
  if (note_missing(name, {outputs, channels, kernel}))
    return std::make_shared<const Matrix>(Matrix{name, outputs, columns, {}});
  const std::vector<uint64_t> found = shape(name);
  if (found != std::vector<uint64_t>{outputs, channels, kernel})
    throw Error("{} has shape {}, expected [{}, {}, {}]", describe(name), shape_text(found), outputs, channels, kernel);
  const Tensor loaded = load(name);
  const auto read = [channels, kernel, columns, as_stored = values(name, loaded)] {
    std::vector<float> result(as_stored.size());
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t row = i / columns, step = i % columns / channels, channel = i % channels;
      result[i] = as_stored.data()[row * columns + channel * kernel + step];
    }
    as_stored.release();
    return result;
  };
  return std::make_shared<const Matrix>(Matrix{name, outputs, columns, MatrixValues(loaded.values.size(), read),
      loaded.same_rows, row_scales(loaded, outputs, true)});
}

LinearSpec TensorReader::linear(const std::string& prefix, uint32_t outputs, uint32_t inputs, bool has_bias) {
  const std::string name = prefix + ".weight";
  // A convolution of width 1 is this matrix with one more axis.
  const bool is_kernel = has(name) && shape(name) == std::vector<uint64_t>{outputs, inputs, 1};
  return {is_kernel ? kernel(name, outputs, inputs) : matrix(name, outputs, inputs),
      has_bias ? vector(prefix + ".bias", outputs) : std::vector<float>(outputs, 0.0f)};
}

LinearSpec TensorReader::window(const std::string& prefix, uint32_t outputs, uint32_t inputs) {
  const std::string name = prefix + ".weight";
  const std::vector<uint64_t> found = has(name) ? shape(name) : std::vector<uint64_t>{};
  const bool fits = found.size() > 2 && found[0] == outputs &&
                    std::accumulate(found.begin() + 1, found.end(), uint64_t{1}, std::multiplies<>()) == inputs;
  return {fits ? kernel(name, outputs, inputs) : matrix(name, outputs, inputs), vector(prefix + ".bias", outputs)};
}

std::shared_ptr<const Matrix> TensorReader::kernel(const std::string& name, uint32_t rows, uint32_t columns) {
  std::shared_ptr<const Matrix>& result = matrices_[container_names_.at(name)];
  if (!result) result = std::make_shared<const Matrix>(Matrix{name, rows, columns, values(name, load(name))});
  return result;
}

NormSpec TensorReader::norm(const std::string& prefix, uint32_t d_model, bool has_bias, float epsilon) {
  return {vector(prefix + ".weight", d_model),
      has_bias ? vector(prefix + ".bias", d_model) : std::vector<float>(d_model, 0.0f), epsilon};
}

std::vector<std::string> TensorReader::unused() const {
  std::vector<std::string> result;
  for (const std::string& name : names_)
    if (!used_.contains(name)) result.push_back(name);
  return result;
}

// Tables are compared by their hashes, so two of them are never in memory at once.
const std::string& TensorReader::hash_of(const std::shared_ptr<const Matrix>& table) {
  std::string& hash = hashes_[table];
  if (hash.empty()) {
    hash = sha256_of(std::as_bytes(std::span(table->values.get())));
    table->values.release();
  }
  return hash;
}

std::shared_ptr<const Matrix> TensorReader::share_if_equal(
    const std::shared_ptr<const Matrix>& first, const std::shared_ptr<const Matrix>& second) {
  if (first == second) return first;
  const bool same_shape = first->rows == second->rows && first->columns == second->columns &&
                          first->values.size() == second->values.size() && first->same_rows == second->same_rows;
  return same_shape && hash_of(first) == hash_of(second) ? first : second;
}

std::shared_ptr<const Matrix> slice_rows(const std::shared_ptr<const Matrix>& matrix, uint32_t begin, uint32_t end) {
  const uint32_t columns = matrix->columns;
  if (matrix->values.empty()) return std::make_shared<const Matrix>(Matrix{matrix->name, end - begin, columns, {}});
  const size_t n = (matrix->same_rows ? size_t{1} : end - begin) * columns;
  const auto read = [matrix, begin, n] {
    std::vector<float> rows(matrix->row(begin), matrix->row(begin) + n);
    matrix->values.release();
    return rows;
  };
  std::vector<float> scales;
  if (!matrix->stored_scale.empty())
    scales.assign(&matrix->stored_scale[begin], &matrix->stored_scale[begin] + (end - begin));
  return std::make_shared<const Matrix>(Matrix{format_text("{}[{}:{}]", matrix->name, begin, end), end - begin, columns,
      MatrixValues(n, read), matrix->same_rows, std::move(scales)});
}
}  // namespace goldcrest::converter
