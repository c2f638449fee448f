# SPDX-License-Identifier: Apache-2.0
# Features that firmware has only if it asks for them, on the board: results have the hash that a host build made
# (tests/kernels/golden.cmake).
if(NOT GOLDCREST_BOARD_RUN)
  return()
endif()

# goldcrest_feature_test(name SOURCE MODEL NAME HASH LIMIT...): builds SOURCE with HASH and the file MODEL, in C NAME.
function(goldcrest_feature_test name source model model_name hash)
  goldcrest_board_program(${name} ${source} board_main.cc)
  goldcrest_add_model(TARGET ${name} FILE "${GOLDCREST_GOLDEN_FOLDER}/${model}" NAME ${model_name} SECTION .model
    LIMITS max-source-bytes=64 beam-size=4 n-best=4 ${ARGN})
  goldcrest_embed_file(${name} expected_hash "${GOLDCREST_GOLDEN_FOLDER}/${hash}")
  goldcrest_embed_file(${name} hashed_words "${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv")
  goldcrest_board_test(${name} feature)
endfunction()
if(GOLDCREST_INSPECTION)
  goldcrest_feature_test(inspection_test inspection_test.cc g2p.gcst inspected g2p.inspection inspection=3
    alignment-layers=3)
endif()
if(GOLDCREST_SEARCH)
  goldcrest_feature_test(rules_test rules_test.cc g2p_rules.gcst ruled g2p_rules.hash)
  goldcrest_feature_test(sampling_test rules_test.cc g2p.gcst ruled g2p.samples)
  target_compile_definitions(sampling_test PRIVATE GOLDCREST_TESTS_SAMPLES)
endif()
# Ten texts: what they save with models of three shapes, and the firmware that answers with them.
if(GOLDCREST_SHORTLIST AND TARGET phrases_firmware AND EXISTS "${GOLDCREST_GOLDEN_FOLDER}/wide.gcst")
  goldcrest_board_program(lexicon_test lexicon_test.cc board_main.cc)
  foreach(shape wide base enfr)
    goldcrest_add_model(TARGET lexicon_test FILE "${GOLDCREST_GOLDEN_FOLDER}/${shape}.gcst" NAME ${shape} SECTION .model
      LIMITS max-source=16 max-target=16 beam-size=1 encoder-rows=4)
  endforeach()
  goldcrest_counted_test(lexicon_test feature PROPERTIES TIMEOUT 1800)
  add_dependencies(lexicon_test phrases_firmware)
endif()

# T5: a small FLAN-T5 has the host's hash.
if(GOLDCREST_LAYERS AND GOLDCREST_TEXT)
  goldcrest_golden_program(t5_test 100 50 g2p t5.gcst t5.hash)
  goldcrest_board_test(t5_test feature)
endif()
# Fine inputs, second matrices and fine attention in one file.
if(GOLDCREST_ACCURACY)
  goldcrest_golden_program(fine_test 100 50 g2p g2p_refined.gcst g2p_refined.hash)
  goldcrest_board_test(fine_test feature)
  foreach(kind packed unpacked)
    goldcrest_golden_program(${kind}_test 100 50 g2p g2p_${kind}.gcst g2p_unpacked.hash)
    goldcrest_counted_test(${kind}_test feature)
  endforeach()
endif()
if((GOLDCREST_LAYERS OR GOLDCREST_ACCURACY) AND TARGET contract_test)
  set_tests_properties(contract_test PROPERTIES LABELS "fast;feature")
endif()

# A model with languages, of which none is a default and nobody chooses one: the benchmark must say so.
if(GOLDCREST_TEXT)
  add_executable(benchmark_languages "${CMAKE_SOURCE_DIR}/examples/benchmark_firmware/main.c")
  target_compile_options(benchmark_languages PRIVATE $<$<COMPILE_LANGUAGE:C>:-std=c11>)
  target_link_libraries(benchmark_languages PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_console_text)
  goldcrest_worst_step(benchmark_languages)
  goldcrest_add_model(TARGET benchmark_languages FILE "${GOLDCREST_GOLDEN_FOLDER}/nllb.gcst" NAME g2p SECTION .model
    LIMITS max-source=20 max-source-bytes=24 max-target=16 beam-size=4 encoder-rows=2)
  goldcrest_command_test(benchmark_languages feature sh -c "\"$@\"; echo status $?" sh ${GOLDCREST_BOARD_RUN}
    $<TARGET_FILE:benchmark_languages> -icount shift=0 PROPERTIES TIMEOUT 120
    PASS_REGULAR_EXPRESSION "languages: call goldcrest_set_languages first.*status 1")
endif()

# Images: the line reader has the hash of programs/read_test.cc.
if(GOLDCREST_SPEECH AND EXISTS "${GOLDCREST_GOLDEN_FOLDER}/lines.gcst")
  goldcrest_board_program(image_test image_test.cc)
  goldcrest_add_model(TARGET image_test FILE "${GOLDCREST_GOLDEN_FOLDER}/lines.gcst" NAME reader SECTION .model
    LIMITS beam-size=1 encoder-rows=4)
  goldcrest_embed_file(image_test packed_images "${CMAKE_SOURCE_DIR}/tests/data/lines/packed.raw")
  goldcrest_counted_test(image_test read PROPERTIES TIMEOUT 1800)
endif()
# Speech: the host's build (CMakeLists.txt) gives the model, the clip and what the host heard. A real model runs only
# with the best table.
if(TARGET transcribe_firmware AND GOLDCREST_TRANSCRIBE_HEARD)
  set(GOLDCREST_SPEECH_TABLES 100 CACHE STRING "Kernel tables that speech_test compares")
  goldcrest_board_program(speech_test speech_test.cc)
  target_compile_definitions(speech_test PRIVATE GOLDCREST_SPEECH_TABLES=${GOLDCREST_SPEECH_TABLES})
  goldcrest_add_model(TARGET speech_test FILE "${GOLDCREST_TRANSCRIBE_MODEL}" NAME heard SECTION .model
    LIMITS beam-size=1 encoder-rows=4)
  goldcrest_embed_file(speech_test heard_clip "${GOLDCREST_TRANSCRIBE_CLIP}")
  goldcrest_embed_file(speech_test heard_hash "${GOLDCREST_TRANSCRIBE_HEARD}.hash")
  goldcrest_counted_test(speech_test feature PROPERTIES TIMEOUT 1800)
  set(session sh "${CMAKE_CURRENT_SOURCE_DIR}/console_session.sh")
  goldcrest_command_test(transcribe_firmware_session feature ${session} "${GOLDCREST_TRANSCRIBE_HEARD}"
    "${GOLDCREST_BOARD}" ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:transcribe_firmware> PROPERTIES TIMEOUT 1800)
  if(TARGET listen_firmware)  # the times suit a small model
    goldcrest_command_test(listen_firmware_session listen ${session} "${GOLDCREST_TRANSCRIBE_HEARD}.listen"
      "${GOLDCREST_BOARD}" ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:listen_firmware> -icount shift=5
      PROPERTIES TIMEOUT 1800)
    # At 1 us an instruction a step takes longer than the microphone leaves time.
    goldcrest_command_test(listen_firmware_too_late listen sh -c "\"$@\"; echo status $?" sh ${GOLDCREST_BOARD_RUN}
      $<TARGET_FILE:listen_firmware> -icount shift=10 PROPERTIES TIMEOUT 1800
      PASS_REGULAR_EXPRESSION "the watchdog was fed too late, in round .*status 1")
  endif()
endif()
