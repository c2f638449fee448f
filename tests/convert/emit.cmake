# SPDX-License-Identifier: Apache-2.0
goldcrest_test(emit_test SOURCES report/budget_test.cc file/build_float32_test.cc file/emit_c_test.cc
  file/relayout_test.cc LIBRARIES goldcrest_emit)
