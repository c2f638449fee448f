# SPDX-License-Identifier: Apache-2.0
# Students on the board, in builds with GOLDCREST_LAYERS (recurrent layers), which firmware has only if it asks for it.
# With GOLDCREST_SHORTLIST and GOLDCREST_SEARCH also students like Firefox's, with a shortlist and a limit of the target
# by its source's length. Tests compare the self-test and the hash with a host build's, and measure such a build's size.
if(NOT GOLDCREST_LAYERS OR NOT GOLDCREST_BOARD_RUN)
  return()
endif()
set(contract_test "")
if(TARGET contract_test)
  set(contract_test contract_test)
  set_tests_properties(contract_test PROPERTIES LABELS "fast;student")
endif()
set_tests_properties(stack PROPERTIES LABELS "fast;student")
set(students student)
if(GOLDCREST_SHORTLIST AND GOLDCREST_SEARCH)
  list(APPEND students student_listed)
endif()

# Small students with random weights (tests/kernels/golden.cmake).
add_custom_target(student_tests DEPENDS ${contract_test} goldcrest_size_programs stack_test)
foreach(student ${students})
  goldcrest_golden_program(${student}_test 100 50 enfr ${student}.gcst ${student}.hash)
  goldcrest_board_test(${student}_test student)
  add_dependencies(student_tests ${student}_test)
endforeach()
if(TARGET translate_firmware)
  add_dependencies(student_tests translate_firmware)
  set_tests_properties(flash_of_translate_firmware symbols_of_translate_firmware PROPERTIES LABELS "fast;student")
endif()

# A real student, with and without its shortlist; real_student.sh makes its files and hashes in GOLDCREST_STUDENT_FILES.
# Instructions are the clock.
if(GOLDCREST_STUDENT_FILES)
  add_custom_target(real_student_tests DEPENDS translate_firmware)
  foreach(student real_student real_student_listed)
    set(files "${GOLDCREST_STUDENT_FILES}/${student}")
    goldcrest_golden_program(${student}_test 1 50 enfr "${files}.gcst" "${files}.hash")
    goldcrest_counted_test(${student}_test real_student PROPERTIES TIMEOUT 1800)
    add_dependencies(real_student_tests ${student}_test)
  endforeach()
endif()
