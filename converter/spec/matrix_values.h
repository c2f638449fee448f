// SPDX-License-Identifier: Apache-2.0
// The values of a matrix, which may stay in the checkpoint until they are needed.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

namespace goldcrest::converter {

// Values in memory, or `n` values that `read` returns at each call. The latter are in memory from their first use until
// release(). Not thread-safe.
class MatrixValues {
 public:
  using Read = std::function<std::vector<float>()>;

  MatrixValues() = default;
  MatrixValues(std::vector<float> values) : values_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  MatrixValues(std::initializer_list<float> values) : values_(values) {}
  MatrixValues(size_t n, Read read) : n_(n), read_(std::move(read)) {}

  // Does not read the values.
  size_t size() const { return read_ ? n_ : values_.size(); }
  bool empty() const { return size() == 0; }

  const std::vector<float>& get() const {
    if (read_ && values_.empty()) values_ = read_();
    return values_;
  }
  const float* data() const { return get().data(); }
  float operator[](size_t i) const { return get()[i]; }
  friend bool operator==(const MatrixValues& a, const MatrixValues& b) { return a.get() == b.get(); }

  // Frees the memory if the values can be read again.
  void release() const {
    if (read_) std::vector<float>().swap(values_);
  }
  // Returns the values, and frees the copy here if they can be read again.
  std::vector<float> take() const {
    get();
    return read_ ? std::exchange(values_, {}) : values_;
  }
  // Returns the values for changes; from now on they stay in memory.
  std::vector<float>& edit() {
    get();
    read_ = nullptr;
    return values_;
  }

 private:
  size_t n_ = 0;  // for values that can be read
  Read read_;     // may be empty
  mutable std::vector<float> values_;
};

}  // namespace goldcrest::converter
