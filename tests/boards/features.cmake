# SPDX-License-Identifier: Apache-2.0
# Features that firmware has only if it asks for them, on the board: results have the hash that a host build made
# (tests/kernels/golden.cmake).
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_feature_test(name SOURCE MODEL NAME HASH LIMIT...): builds SOURCE with the file MODEL, called NAME in C, and HASH.
function(goldcrest_feature_test name source model model_name hash)
  goldcrest_board_program(${name} ${source})
  goldcrest_add_model(TARGET ${name} FILE "${GOLDCREST_GOLDEN_FOLDER}/${model}" NAME ${model_name} SECTION .model
    LIMITS max-source-bytes=64 beam=4 n-best=4 ${ARGN})
  goldcrest_embed_file(${name} expected_hash "${GOLDCREST_GOLDEN_FOLDER}/${hash}")
  goldcrest_embed_file(${name} hashed_words "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
  goldcrest_board_test(${name} feature)
endfunction()
if(GOLDCREST_INSPECTION)
  goldcrest_feature_test(inspection_test inspection_test.cc g2p.gcst inspected g2p.inspection inspection=3 alignment-layers=3)
endif()
if(GOLDCREST_RULES)
  goldcrest_feature_test(rules_test rules_test.cc g2p_rules.gcst ruled g2p_rules.hash)
endif()
if(GOLDCREST_SAMPLING)
  goldcrest_feature_test(sampling_test rules_test.cc g2p.gcst ruled g2p.samples)
  target_compile_definitions(sampling_test PRIVATE GOLDCREST_TESTS_SAMPLES)
endif()

# Speech: host.cmake gives the model, the clip and what the host heard. A real model runs with the best table only.
if(TARGET transcribe_firmware AND GOLDCREST_TRANSCRIBE_HEARD)
  set(GOLDCREST_SPEECH_TABLES 100 CACHE STRING "Kernel tables that speech_test compares")
  goldcrest_board_program(speech_test speech_test.cc)
  target_compile_definitions(speech_test PRIVATE GOLDCREST_SPEECH_TABLES=${GOLDCREST_SPEECH_TABLES})
  goldcrest_add_model(TARGET speech_test FILE "${GOLDCREST_TRANSCRIBE_MODEL}" NAME heard SECTION .model
    LIMITS beam=1 encoder-rows=4)
  goldcrest_embed_file(speech_test heard_clip "${GOLDCREST_TRANSCRIBE_CLIP}")
  goldcrest_embed_file(speech_test heard_hash "${GOLDCREST_TRANSCRIBE_HEARD}.hash")
  add_test(NAME speech_test COMMAND ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:speech_test> -icount shift=0)
  add_test(NAME transcribe_firmware_session COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/console_session.sh"
    "${GOLDCREST_TRANSCRIBE_HEARD}" "${GOLDCREST_BOARD}" ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:transcribe_firmware>)
  set_tests_properties(speech_test transcribe_firmware_session PROPERTIES LABELS feature TIMEOUT 1800)
  if(TARGET listen_firmware)
    add_test(NAME listen_firmware_session COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/console_session.sh"
      "${GOLDCREST_TRANSCRIBE_HEARD}.listen" "${GOLDCREST_BOARD}" ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:listen_firmware>
      -icount shift=5)
    # At 1 us an instruction a step takes longer than the microphone leaves time.
    add_test(NAME listen_firmware_too_late COMMAND sh -c "\"$@\"; echo status $?" sh ${GOLDCREST_BOARD_RUN}
      $<TARGET_FILE:listen_firmware> -icount shift=10)
    set_tests_properties(listen_firmware_session listen_firmware_too_late PROPERTIES LABELS feature TIMEOUT 1800)
    set_tests_properties(listen_firmware_too_late PROPERTIES
      PASS_REGULAR_EXPRESSION "the watchdog was fed too late, in round .*status 1")
  endif()
endif()
