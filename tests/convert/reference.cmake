# SPDX-License-Identifier: Apache-2.0
goldcrest_test(reference_test SOURCES reference_test.cc reference_search_test.cc LIBRARIES goldcrest_reference)
