// SPDX-License-Identifier: Apache-2.0
// Views of a linear layer and of a norm; all blocks consist of these. Offsets are in 64-byte units from the start of
// the file.
#pragma once

#include <stdint.h>
#include "base/build_options.h"

namespace goldcrest {
enum class Layout : uint32_t { kRowMajor, kN16K4, kN4K16 };                               // FORMAT.md, "Tensor layouts"
enum class Activation : uint32_t { kRelu, kGelu, kGeluTanh, kSilu, kTanh, kNone = 255 };  // kGelu: with erf

// The types of a file's weights, of the keys and values in its caches, and of the inputs of its linear layers.
enum class WeightType : uint8_t { kInt8, kFloat32 };
enum class CacheType : uint32_t { kInt8, kFloat32, kFine };  // kFine: rows of 16 bits (kernels/kernels.h)
enum class InputType : uint32_t { kInt8, kFloat32 };

constexpr uint32_t bytes_of(WeightType type) { return type == WeightType::kFloat32 ? 4 : 1; }
[[gnu::always_inline]] constexpr uint32_t bytes_of(CacheType type) {
  return type == CacheType::kFloat32 ? 4 : kHasAccuracy && type == CacheType::kFine ? 2 : 1;
}
constexpr uint32_t bytes_of(InputType type) { return type == InputType::kFloat32 ? 4 : 1; }

// The most rows of a matrix with a second one.
constexpr uint32_t kMostRefinedRows = 16 * UINT16_MAX;

// y[n] = (sum over k of w[n, k] * x[k]) * scale[n] + bias[n]; float32 files have no scale and no weight_sum
struct LinearView {
  uint32_t weights;     // int8 or packed [n, k] in `layout`; float [n, k] row-major in float32 files
  uint32_t scale;       // float [n]
  uint32_t bias;        // float [n]
  uint32_t weight_sum;  // int32 [n]
  uint32_t n, k;        // padded to multiples of 16
  WeightType weight_type;
  bool fine_input;  // inputs have 16 bits (layers/linear.h)
  // Panels of 16 rows from each row to its row in the second matrix, also in a slice of the outputs; 0: there is none.
  // Weights, scales and sums of the second matrix are after those of the first.
  uint16_t panels_to_second;
  Layout layout;
  uint32_t to_multipliers;  // from `weights`, in 16 bytes; 0: not packed (model/packed.h)

  [[gnu::always_inline]] uint32_t rows_to_second() const { return 16u * panels_to_second; }
  [[gnu::always_inline]] bool is_packed() const { return has_packed(to_multipliers != 0); }
  // Returns whether products of remainders are added: of the inputs', of the weights', or of both.
  [[gnu::always_inline]] bool has_remainders() const { return kHasAccuracy && (fine_input || panels_to_second != 0); }
};

// The biases of a self-attention's scores: query i adds column t - i + before to its score with key t.
struct AttentionBiasView {
  uint32_t table;  // float [n_heads, stride]; 0: no biases
  uint32_t before, stride;
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta
struct NormView {
  uint32_t gamma, beta;  // float [d_model padded]; gamma == 0: the norm does not exist
  float epsilon;
  bool present() const { return gamma != 0; }
};
}  // namespace goldcrest
