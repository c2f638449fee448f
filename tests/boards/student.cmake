# SPDX-License-Identifier: Apache-2.0
# Students (recurrent layers) on the board, in builds with GOLDCREST_SSRU, which firmware has only when it asks for it: the
# self-test of a model, the hash that a host build made, and what such a build takes.
if(NOT GOLDCREST_SSRU OR NOT GOLDCREST_BOARD_RUN)
  return()
endif()
set_tests_properties(contract_test stack PROPERTIES LABELS "fast;student")

# The small one with random weights (tests/kernels/golden.cmake), with every kernel table.
goldcrest_board_program(student_test golden_test.cc)
target_compile_definitions(student_test PRIVATE GOLDCREST_GOLDEN_TABLES=100)
goldcrest_golden_run(student_test 50 enfr student.gcst student.hash)
goldcrest_board_test(student_test student)
add_custom_target(student_tests DEPENDS contract_test goldcrest_size_programs stack_test student_test)
if(TARGET translate_firmware)
  add_dependencies(student_tests translate_firmware)
  set_tests_properties(flash_of_translate_firmware symbols_of_translate_firmware PROPERTIES LABELS "fast;student")
endif()

# A real one, whose file and hash real_student.sh has made as GOLDCREST_STUDENT.gcst and .hash; with instructions as its clock.
if(GOLDCREST_STUDENT)
  goldcrest_board_program(real_student_test golden_test.cc)
  target_compile_definitions(real_student_test PRIVATE GOLDCREST_GOLDEN_TABLES=1)
  goldcrest_golden_run(real_student_test 50 enfr "${GOLDCREST_STUDENT}.gcst" "${GOLDCREST_STUDENT}.hash")
  add_test(NAME real_student_test COMMAND ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:real_student_test> -icount shift=0)
  set_tests_properties(real_student_test PROPERTIES LABELS real_student TIMEOUT 1800)
  add_custom_target(real_student_tests DEPENDS real_student_test translate_firmware)
endif()
