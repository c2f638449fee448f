# SPDX-License-Identifier: Apache-2.0
goldcrest_test(layers_test SOURCES layers/call_sites_test.cc layers/parallel_test.cc layers/quantized_test.cc layers/stack_test.cc
  LIBRARIES goldcrest_test_support goldcrest_reference)
target_compile_definitions(layers_test PRIVATE $<$<BOOL:${GOLDCREST_UNEQUAL_CORES}>:GOLDCREST_UNEQUAL_CORES>)  # as the engine
