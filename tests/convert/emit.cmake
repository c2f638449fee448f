# SPDX-License-Identifier: Apache-2.0
goldcrest_test(emit_test SOURCES budget_test.cc build_float32_test.cc emit_c_test.cc relayout_test.cc LIBRARIES goldcrest_emit)
