# SPDX-License-Identifier: Apache-2.0
# Tests of what the command line's programs share: memory map, report, the engine over a file image. tests/programs runs
# the programs.
goldcrest_test(memory_map_test SOURCES report/memory_map_test.cc LIBRARIES goldcrest_load goldcrest_memory_map
  goldcrest_pack)
goldcrest_test(board_test SOURCES report/board_test.cc LIBRARIES goldcrest_boards)
goldcrest_test(console_test SOURCES spec/format_text_test.cc spec/printable_test.cc report/progress_test.cc LIBRARIES goldcrest_cli)
goldcrest_test(report_test SOURCES report/engine_session_test.cc report/report_test.cc LIBRARIES goldcrest_load
  goldcrest_report)
goldcrest_test(native_check_test SOURCES report/native_check_test.cc
  LIBRARIES goldcrest_checkpoint_writer goldcrest_load goldcrest_report)

# A real model, which pip brings; the test is skipped where pip cannot.
goldcrest_test(student_test LABEL full TIMEOUT 3600
  LAUNCHER bash "${CMAKE_CURRENT_SOURCE_DIR}/student.sh" "${CMAKE_CURRENT_BINARY_DIR}/student"
  SOURCES student_test.cc LIBRARIES goldcrest_checkpoint_writer goldcrest_load
  goldcrest_report)
set_tests_properties(student_test PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK student_folder)
