# SPDX-License-Identifier: Apache-2.0
goldcrest_test(api_test SOURCES api/alignment_test.cc api/idle_weights_test.cc api/inspection_test.cc api/languages_test.cc api/limits_test.cc api/plan_test.cc api/same_bits_test.cc api/self_test_test.cc api/shortlist_test.cc api/state_test.cc
  api/text_test.cc api/threads_test.cc LIBRARIES goldcrest_test_support goldcrest_thread_pool)

# Counts instructions in QEMU's user mode, for a CPU of this machine's architecture.
find_program(GOLDCREST_QEMU_USER "qemu-${CMAKE_HOST_SYSTEM_PROCESSOR}")
if(GOLDCREST_QEMU_USER)
  execute_process(COMMAND "${GOLDCREST_QEMU_USER}" --help OUTPUT_VARIABLE qemu_help)  # Debian 13's has no plugins
endif()
if(qemu_help MATCHES "plugin" AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_library(goldcrest_instruction_counter MODULE "${CMAKE_SOURCE_DIR}/tests/support/instruction_counter.cc")
  target_compile_features(goldcrest_instruction_counter PRIVATE cxx_std_20)
  execute_process(COMMAND "${GOLDCREST_QEMU_USER}" --version OUTPUT_VARIABLE qemu_version)
  string(REGEX MATCH "version ([0-9]+)" qemu_version "${qemu_version}")
  target_compile_definitions(goldcrest_instruction_counter PRIVATE
    QEMU_PLUGIN_VERSION=$<IF:$<VERSION_LESS:${CMAKE_MATCH_1},9>,1,2>)
  target_include_directories(goldcrest_instruction_counter PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  goldcrest_warnings(goldcrest_instruction_counter)
  set(counts "${CMAKE_CURRENT_BINARY_DIR}/work_test.count")
  goldcrest_test(work_test LABEL full TIMEOUT 600 SOURCES api/linear_work.cc api/work_of_files_test.cc api/work_of_runs_test.cc
    "${CMAKE_SOURCE_DIR}/tests/support/instructions.cc"
    LIBRARIES goldcrest_hostile_file goldcrest_test_tokenizer
    LAUNCHER ${CMAKE_COMMAND} -E env GOLDCREST_KERNELS=reference "GOLDCREST_INSTRUCTIONS=${counts}" "${GOLDCREST_QEMU_USER}" -cpu max
      -plugin "$<TARGET_FILE:goldcrest_instruction_counter>,counts=${counts}")
  add_dependencies(work_test goldcrest_instruction_counter)
endif()
