// SPDX-License-Identifier: Apache-2.0
// KleidiAI's int8 micro-kernels over a LinearProblem: activations with a scale and a zero point a row, weights with a
// scale an output.
#pragma once

#include <cmath>
#include <vector>

#include "kai_lhs_quant_pack_qai8dxp_f32.h"
#include "kai_matmul_clamp_f32_qai8dxp1x4_qsi8cxp4x4_1x4_neon_dotprod.h"
#include "kai_matmul_clamp_f32_qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod.h"
#include "kai_matmul_clamp_f32_qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod.h"
#include "kai_matmul_clamp_f32_qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm.h"
#include "kai_matmul_clamp_f32_qai8dxp_qsi8cxp_interface.h"
#include "kai_rhs_pack_nxk_qsi8cxp_qsi8cx_neon.h"
#include "kernels/linear_problem.h"

namespace goldcrest::test {

using KleidiKernel = kai_matmul_clamp_f32_qai8dxp_qsi8cxp_ukernel;

#define GOLDCREST_KLEIDI_KERNEL(name)                                                                               \
  KleidiKernel {                                                                                                    \
    kai_get_m_step_matmul_clamp_f32_##name, kai_get_n_step_matmul_clamp_f32_##name,                                 \
        kai_get_mr_matmul_clamp_f32_##name, kai_get_nr_matmul_clamp_f32_##name, kai_get_kr_matmul_clamp_f32_##name, \
        kai_get_sr_matmul_clamp_f32_##name, kai_get_lhs_packed_offset_matmul_clamp_f32_##name,                      \
        kai_get_rhs_packed_offset_matmul_clamp_f32_##name, kai_get_dst_offset_matmul_clamp_f32_##name,              \
        kai_get_dst_size_matmul_clamp_f32_##name, kai_run_matmul_clamp_f32_##name                                   \
  }

// The kernel that KleidiAI's documentation names for this number of rows.
inline KleidiKernel kleidi_kernel(uint32_t rows, bool i8mm) {
  if (rows == 1) {
    return i8mm ? GOLDCREST_KLEIDI_KERNEL(qai8dxp1x8_qsi8cxp4x8_1x4_neon_dotprod)
                : GOLDCREST_KLEIDI_KERNEL(qai8dxp1x4_qsi8cxp4x4_1x4_neon_dotprod);
  }
  return i8mm ? GOLDCREST_KLEIDI_KERNEL(qai8dxp4x8_qsi8cxp4x8_16x4_neon_i8mm)
              : GOLDCREST_KLEIDI_KERNEL(qai8dxp4x4_qsi8cxp4x4_16x4_neon_dotprod);
}
#undef GOLDCREST_KLEIDI_KERNEL

class KleidiOperator {
 public:
  KleidiOperator(LinearProblem& problem, LinearShape shape, uint32_t rows, bool i8mm)
      : kernel_(kleidi_kernel(rows, i8mm)),
        shape_(shape),
        rows_(rows),
        x_(size_t{rows} * shape.k),
        inputs_(kai_get_lhs_packed_size_lhs_quant_pack_qai8dxp_f32(rows, shape.k, kernel_.get_mr(), kernel_.get_kr(),
                                                                   kernel_.get_sr())),
        weights_(kai_get_rhs_packed_size_rhs_pack_nxk_qsi8cxp_qsi8cx_neon(shape.n, shape.k, kernel_.get_nr(),
                                                                          kernel_.get_kr(), kernel_.get_sr())),
        y_(size_t{rows} * shape.n) {
    for (size_t i = 0; i < size_t{rows} * shape.k; ++i)
      x_[i] = problem.x_scale[i / shape.k] * static_cast<float>(problem.x[i]);
    std::vector<int8_t> by_row(size_t{shape.n} * shape.k);
    for (uint32_t output = 0; output < shape.n; ++output) {
      for (uint32_t input = 0; input < shape.k; ++input)
        by_row[size_t{output} * shape.k + input] = problem.weight(output, input);
    }
    const kai_rhs_pack_qsi8cx_params params = {1, 1.0f};
    kai_run_rhs_pack_nxk_qsi8cxp_qsi8cx_neon(1, shape.n, shape.k, kernel_.get_nr(), kernel_.get_kr(), kernel_.get_sr(),
                                             by_row.data(), problem.bias.begin(), problem.w_scale.begin(),
                                             weights_.begin(), 0, &params);
    quantize();
  }

  void quantize() {
    kai_run_lhs_quant_pack_qai8dxp_f32(rows_, shape_.k, kernel_.get_mr(), kernel_.get_kr(), kernel_.get_sr(), 0,
                                       x_.begin(), shape_.k * sizeof(float), inputs_.begin());
  }

  void multiply() {
    kernel_.run_matmul(rows_, shape_.n, shape_.k, inputs_.begin(), weights_.begin(), y_.begin(),
                       shape_.n * sizeof(float), sizeof(float), -INFINITY, INFINITY);
  }

  AlignedBuffer<float>& x() { return x_; }

  // Returns whether it computed the same layer, up to both sides' rounding of the inputs.
  bool agrees_with(AlignedBuffer<float>& ours) {
    double difference = 0, magnitude = 0;
    for (size_t i = 0; i < size_t{rows_} * shape_.n; ++i) {
      difference += std::fabs(double{y_[i]} - double{ours[i]});
      magnitude += std::fabs(double{ours[i]});
    }
    return difference < 0.02 * magnitude;
  }

 private:
  KleidiKernel kernel_;
  LinearShape shape_;
  uint32_t rows_;
  AlignedBuffer<float> x_;
  AlignedBuffer<uint8_t> inputs_, weights_;
  AlignedBuffer<float> y_;
};

}  // namespace goldcrest::test
