# SPDX-License-Identifier: Apache-2.0
goldcrest_test(api_test SOURCES api/plan_test.cc LIBRARIES goldcrest_test_support)
