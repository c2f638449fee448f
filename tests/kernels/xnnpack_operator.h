// SPDX-License-Identifier: Apache-2.0
// XNNPACK's qd8-f32-qc8w fully connected operator over a LinearProblem, for the programs that compare it with our
// kernels.
#pragma once

#include <errno.h>
#include <xnnpack.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/linear_problem.h"

namespace goldcrest::test {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
  std::exit(2);
}

// XNNPACK's operator over the same layer.
class PeerOperator {
 public:
  PeerOperator(LinearProblem& problem, LinearShape shape, uint32_t rows)
      : x_(size_t{rows} * shape.k + XNN_EXTRA_BYTES),
        parameters_(rows + XNN_EXTRA_QUANTIZATION_PARAMS),
        y_(size_t{rows} * shape.n) {
    std::copy(problem.x.begin(), problem.x.end(), x_.begin());
    // Its kernels repeat the last row up to their number of rows, with the parameters that follow.
    for (size_t i = 0; i < parameters_.size(); ++i)
      parameters_[i] = {0, problem.x_scale[std::min<size_t>(i, rows - 1)]};
    AlignedBuffer<int8_t> weights(size_t{shape.n} * shape.k);  // row by row
    for (uint32_t output = 0; output < shape.n; ++output) {
      for (uint32_t input = 0; input < shape.k; ++input) {
        weights[size_t{output} * shape.k + input] = problem.weight(output, input);
      }
    }
    const float limit = INFINITY;
    require(xnn_create_fully_connected_nc_qd8_f32_qc8w(shape.k, shape.n, shape.k, shape.n, problem.w_scale.begin(),
                                                       weights.begin(), problem.bias.begin(), -limit, limit, 0, nullptr,
                                                       nullptr, &operator_) == xnn_status_success,
            "XNNPACK does not make the operator");
    require(xnn_reshape_fully_connected_nc_qd8_f32_qc8w(operator_, rows, nullptr) == xnn_status_success &&
                xnn_setup_fully_connected_nc_qd8_f32_qc8w(operator_, x_.begin(), y_.begin(), parameters_.data()) ==
                    xnn_status_success,
            "XNNPACK does not set the operator up");
  }
  ~PeerOperator() { xnn_delete_operator(operator_); }
  PeerOperator(const PeerOperator&) = delete;
  PeerOperator& operator=(const PeerOperator&) = delete;

  void run() { require(xnn_run_operator(operator_, nullptr) == xnn_status_success, "XNNPACK's operator failed"); }
  AlignedBuffer<float>& y() { return y_; }

 private:
  AlignedBuffer<int8_t> x_;
  std::vector<xnn_quantization_params> parameters_;
  AlignedBuffer<float> y_;
  xnn_operator_t operator_ = nullptr;
};

}  // namespace goldcrest::test
