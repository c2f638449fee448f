# SPDX-License-Identifier: Apache-2.0
goldcrest_test(model_test SOURCES model/bounds_test.cc model/damage_test.cc model/extents_test.cc model/float32_test.cc
  model/hostile_test.cc model/pieces_test.cc model/recurrent_test.cc model/rules_test.cc
  model/shortlist_test.cc model/slices_test.cc model/structure_test.cc model/subword_test.cc model/view_test.cc
  LIBRARIES goldcrest_hostile_file)
