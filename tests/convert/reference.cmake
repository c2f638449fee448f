# SPDX-License-Identifier: Apache-2.0
goldcrest_test(reference_test SOURCES reference/ordered_sums_test.cc reference/reference_forward_test.cc
  reference/reference_rules_test.cc reference/reference_search_test.cc reference/reference_shortlist_test.cc
  reference/reference_test.cc LIBRARIES goldcrest_reference)

# Runs it again on emulated CPUs of other vendors, caches and features. Code that asks for these, such as libm, gets the
# emulator's answers.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  foreach(cpu Nehalem Haswell EPYC)
    add_test(NAME reference_test_${cpu} COMMAND qemu-x86_64 -cpu ${cpu} $<TARGET_FILE:reference_test>)
    set_tests_properties(reference_test_${cpu} PROPERTIES LABELS fast)
  endforeach()
endif()
