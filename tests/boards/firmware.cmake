# SPDX-License-Identifier: Apache-2.0
# Tests the example firmware at its console, the calls that firmware must refuse, and that the engine masks no
# interrupt.

# goldcrest_masked_interrupts_test(name FILE...): objects or archives mask no interrupt.
function(goldcrest_masked_interrupts_test name)
  goldcrest_command_test(masked_interrupts_of_${name} fast sh "${CMAKE_CURRENT_SOURCE_DIR}/firmware_code.sh"
    interrupts "${CMAKE_OBJDUMP}" ${ARGN} COMMAND_EXPAND_LISTS)
endfunction()
goldcrest_masked_interrupts_test(goldcrest $<TARGET_FILE:goldcrest>)
goldcrest_masked_interrupts_test(goldcrest_board $<TARGET_OBJECTS:goldcrest_board>)
# The board's start-up code writes special registers, so the check must find something in it.
set_tests_properties(masked_interrupts_of_goldcrest_board PROPERTIES PASS_REGULAR_EXPRESSION " has.*(msr|csrw)")

if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_session_test(program [EMULATOR_OPTION...]): sessions/PROGRAM.input gives sessions/PROGRAM.expected.
function(goldcrest_session_test program)
  goldcrest_command_test(${program}_session fast sh "${CMAKE_CURRENT_SOURCE_DIR}/console_session.sh"
    "${CMAKE_CURRENT_SOURCE_DIR}/sessions/${program}" "${GOLDCREST_BOARD}"
    ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:${program}> ${ARGN} PROPERTIES TIMEOUT 300)
endfunction()

goldcrest_session_test(pronounce_firmware -icount shift=5)
goldcrest_session_test(benchmark_firmware -icount shift=0)
if(TARGET translate_firmware)
  goldcrest_session_test(translate_firmware -icount shift=5)
endif()
foreach(program phrases_firmware pronounce_bytes_firmware)
  if(TARGET ${program})
    goldcrest_session_test(${program} -icount shift=5)
    set_tests_properties(${program}_session PROPERTIES LABELS feature)
  endif()
endforeach()

# At 16 ns an instruction the program feeds the watchdog in time. At 1 us it does not, and the program reports that.
set(superloop_shift 4)
if(is_riscv)
  set(superloop_shift 2)  # perhaps without an FPU
endif()
goldcrest_session_test(superloop -icount shift=${superloop_shift})
goldcrest_command_test(superloop_too_late fast sh -c "\"$@\"; echo status $?" sh ${GOLDCREST_BOARD_RUN}
  $<TARGET_FILE:superloop> -icount shift=10 PROPERTIES TIMEOUT 120
  PASS_REGULAR_EXPRESSION "the watchdog was fed too late, in round .*status 1")

# It damages a copy of the model; boards without an emulator lack the memory for that.
add_executable(refusals_test refusals_test.c)
target_compile_options(refusals_test PRIVATE -std=c11)
target_link_libraries(refusals_test PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_console_text)
goldcrest_warnings(refusals_test)
goldcrest_add_model(TARGET refusals_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
  LIMITS max-source=25 max-source-bytes=24 max-target=33 beam-size=4 encoder-rows=2)
goldcrest_add_model(TARGET refusals_test FILE "${GOLDCREST_GOLDEN_FOLDER}/g2p_rules.gcst" NAME ruled SECTION .model)
goldcrest_add_model(TARGET refusals_test FILE "${GOLDCREST_GOLDEN_FOLDER}/g2p_refined.gcst" NAME refined SECTION .model)
goldcrest_session_test(refusals_test)
