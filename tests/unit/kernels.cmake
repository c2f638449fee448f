# SPDX-License-Identifier: Apache-2.0
goldcrest_test(kernels_test SOURCES kernels/math_test.cc kernels/reference_attention_test.cc
  kernels/reference_linear_test.cc kernels/reference_rows_test.cc kernels/select_test.cc)
