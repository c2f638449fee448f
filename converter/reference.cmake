# SPDX-License-Identifier: Apache-2.0
# The neutral description of a model, its float32 reference, and the reference's searches.
goldcrest_converter_library(goldcrest_spec spec/shortlist.cc spec/trim_vocabulary.cc spec/validate_spec.cc)
target_link_libraries(goldcrest_spec PUBLIC goldcrest_host)

find_package(Eigen3 REQUIRED NO_MODULE)
goldcrest_converter_library(goldcrest_reference COMPUTES
  math/ordered_sums.cc
  reference/frontend.cc
  reference/operations.cc
  reference/reference.cc
  reference/reference_search.cc)
target_link_libraries(goldcrest_reference PUBLIC goldcrest_spec Eigen3::Eigen)
# Eigen's own vectors round differently on some machines (NEON of 32 bits, roots). Code that shares its matrices must
# use the same setting.
target_compile_definitions(goldcrest_reference PUBLIC EIGEN_DONT_VECTORIZE)
# Eigen is only fast if it is inlined, in a debug build too.
target_compile_options(goldcrest_reference PRIVATE -O3)
