# SPDX-License-Identifier: Apache-2.0
goldcrest_test(memory_test SOURCES memory/plan_test.cc)
