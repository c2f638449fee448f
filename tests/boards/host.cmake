# SPDX-License-Identifier: Apache-2.0
# Every board that QEMU has boots as a test of this machine's build, with its models and hashes; the others are built
# and linked. A sanitizer of this machine cannot check them.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()

# goldcrest_run_board(PRESET LABEL BOARD_LABEL HASHES): runs the board's tests of BOARD_LABEL. Tests of this build
# (tests/kernels/golden.cmake) make HASHES.
function(goldcrest_run_board preset label board_label hashes)
  set(name board_${preset})
  if(board_label STREQUAL "full")
    string(APPEND name _full)
  endif()
  add_test(NAME ${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/run_board.sh" ${preset}
    "${CMAKE_CURRENT_BINARY_DIR}/${preset}" "${CMAKE_BINARY_DIR}/tests/kernels/golden" $<TARGET_FILE:goldcrest-convert>
    ${board_label})
  set_tests_properties(${name} PROPERTIES LABELS ${label} FIXTURES_REQUIRED "golden_g2p;golden_model_g2p_rules;${hashes}"
    RESOURCE_LOCK board_${preset} TIMEOUT 3600 COST 1000)
endfunction()

foreach(board mps2-an386 mps2-an500 mps2-an505 mps3-an547)
  goldcrest_run_board(${board} fast fast golden_hash_g2p)
  set_tests_properties(board_${board} PROPERTIES FIXTURES_SETUP board_${board})
  goldcrest_run_board(${board} full full "golden_hash_g2p;golden_hash_g2p_all")
endforeach()
# The predictions follow from the instructions that these boards count today.
foreach(board mps2-an500 mps2-an505 mps3-an547)
  add_test(NAME predictions_of_${board} COMMAND bash -c
    "set -o pipefail; cmake --build \"$0\" --target run_benchmark_firmware -- --quiet | \"$1\" -"
    "${CMAKE_CURRENT_BINARY_DIR}/${board}" $<TARGET_FILE:goldcrest-predictions>)
  set_tests_properties(predictions_of_${board} PROPERTIES LABELS fast FIXTURES_REQUIRED board_${board}
    RESOURCE_LOCK board_${board} TIMEOUT 600)
endforeach()
foreach(board nucleo-h743zi rpi-pico2)
  goldcrest_run_board(${board} fast fast golden_hash_g2p)
endforeach()
# Without an FPU the compiler's own functions must give the same bits.
goldcrest_run_board(mps2-an386-soft-float full fast golden_hash_g2p)
# RISC-V. The compiler's C library takes 1 GB, so the fast tests do without.
foreach(board riscv-virt riscv-virt-soft-float)
  goldcrest_run_board(${board} full fast golden_hash_g2p)
  set_tests_properties(board_${board} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

# goldcrest_run_feature(PRESET FEATURE LABEL HASH): tests a feature that firmware gets only with the CMake option
# GOLDCREST_<FEATURE>. Results have this machine's bits; flash and stack are measured.
function(goldcrest_run_feature preset feature label hash)
  string(TOLOWER ${feature} name)
  add_test(NAME board_${preset}_${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/run_board.sh" ${preset}
    "${CMAKE_CURRENT_BINARY_DIR}/${preset}_${name}" "${CMAKE_BINARY_DIR}/tests/kernels/golden"
    $<TARGET_FILE:goldcrest-convert> "feature|size" "${name}_test goldcrest_sizes" -D GOLDCREST_${feature}=ON)
  set_tests_properties(board_${preset}_${name} PROPERTIES LABELS ${label} FIXTURES_REQUIRED "golden_g2p;golden_model_g2p_rules;${hash}"
    TIMEOUT 3600)
endfunction()
goldcrest_run_feature(mps3-an547 INSPECTION fast golden_inspection_g2p)
goldcrest_run_feature(mps3-an547 RULES fast golden_rules_g2p)
goldcrest_run_feature(mps3-an547 SAMPLING fast golden_samples_g2p)
goldcrest_run_feature(mps2-an500 RULES full golden_rules_g2p)
goldcrest_run_feature(mps2-an500 SAMPLING full golden_samples_g2p)
goldcrest_run_feature(mps3-an547 LEXICON full "golden_wide;golden_base;golden_enfr")

# Students have recurrent layers; Firefox's also have a shortlist and a limit by the source's length. The last builds
# measure the size of only one feature.
set(student_fixtures "golden_g2p;golden_model_g2p_rules;golden_hash_g2p;golden_hash_student;golden_hash_student_listed")
set(student_options -D GOLDCREST_SSRU=ON -D GOLDCREST_SHORTLIST=ON -D GOLDCREST_RULES=ON)
# goldcrest_run_student(NAME LABEL BOARD_LABEL TARGETS CMAKE_OPTION...)
function(goldcrest_run_student name label board_label targets)
  add_test(NAME board_mps3-an547_${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/run_board.sh" mps3-an547
    "${CMAKE_CURRENT_BINARY_DIR}/mps3-an547_${name}" "${CMAKE_BINARY_DIR}/tests/kernels/golden" $<TARGET_FILE:goldcrest-convert>
    ${board_label} ${targets} ${ARGN})
  set_tests_properties(board_mps3-an547_${name} PROPERTIES LABELS ${label} FIXTURES_REQUIRED "${student_fixtures}" TIMEOUT 3600)
endfunction()
goldcrest_run_student(student fast student student_tests ${student_options})
goldcrest_run_student(ssru full student student_tests -D GOLDCREST_SSRU=ON)
goldcrest_run_student(shortlist full size goldcrest_sizes -D GOLDCREST_SHORTLIST=ON)
goldcrest_run_student(subword full size goldcrest_sizes -D GOLDCREST_SUBWORD=ON)
goldcrest_run_student(prefix full size goldcrest_sizes -D GOLDCREST_PREFIX=ON)
goldcrest_run_student(sequences full size goldcrest_sizes -D GOLDCREST_SEQUENCES=ON)

# goldcrest_run_family(NAME PRESET TARGETS CMAKE_OPTION...): what families of Hugging Face need, each feature by its test
# and its size. The last build measures the size of all.
function(goldcrest_run_family name preset targets)
  add_test(NAME board_${preset}_${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/run_board.sh" ${preset}
    "${CMAKE_CURRENT_BINARY_DIR}/${preset}_${name}" "${CMAKE_BINARY_DIR}/tests/kernels/golden" $<TARGET_FILE:goldcrest-convert>
    "feature|size" "${targets} goldcrest_sizes" ${ARGN})
  set_tests_properties(board_${preset}_${name} PROPERTIES LABELS full TIMEOUT 3600
    FIXTURES_REQUIRED "golden_g2p;golden_model_g2p_rules;golden_hash_g2p;golden_hash_t5;golden_nllb")
endfunction()
set(t5_options -D GOLDCREST_RMS_NORM=ON -D GOLDCREST_GATED=ON -D GOLDCREST_ATTENTION_BIAS=ON)
goldcrest_run_family(t5 mps3-an547 "t5_test contract_test pronounce_bytes_firmware" ${t5_options})
goldcrest_run_family(t5 mps2-an386 "t5_test contract_test pronounce_bytes_firmware" ${t5_options})
goldcrest_run_family(t5 mps2-an500 "t5_test contract_test pronounce_bytes_firmware" ${t5_options})
goldcrest_run_family(languages mps3-an547 benchmark_languages -D GOLDCREST_LANGUAGES=ON)
goldcrest_run_family(t5_languages mps3-an547 "t5_test contract_test pronounce_bytes_firmware benchmark_languages" ${t5_options} -D GOLDCREST_LANGUAGES=ON)

# Speech on the emulated Cortex-M55: a recorded random Moonshine, and a clip of a second.
set(speech_options -D GOLDCREST_SPEECH=ON -D GOLDCREST_ROTARY=ON -D GOLDCREST_GATED=ON)
set(speech "${CMAKE_BINARY_DIR}/tests/kernels/golden/speech")
add_test(NAME board_mps3-an547_speech COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/run_board.sh" mps3-an547
  "${CMAKE_CURRENT_BINARY_DIR}/mps3-an547_speech" "${CMAKE_BINARY_DIR}/tests/kernels/golden" $<TARGET_FILE:goldcrest-convert>
  "feature|size" "speech_test transcribe_firmware listen_firmware goldcrest_sizes"
  ${speech_options} -D GOLDCREST_TRANSCRIBE_MODEL=${speech}.gcst
  -D GOLDCREST_TRANSCRIBE_CLIP=${speech}.raw -D GOLDCREST_TRANSCRIBE_HEARD=${speech})
set_tests_properties(board_mps3-an547_speech PROPERTIES LABELS fast
  FIXTURES_REQUIRED "golden_g2p;golden_model_g2p_rules;golden_hash_g2p;golden_hash_speech" TIMEOUT 3600)
# A real Moonshine, if the environment names one.
add_test(NAME board_mps3-an547_real_speech COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/real_speech.sh"
  "${CMAKE_CURRENT_BINARY_DIR}/mps3-an547_real_speech" "${CMAKE_BINARY_DIR}" ${speech_options})
set_tests_properties(board_mps3-an547_real_speech PROPERTIES LABELS full SKIP_RETURN_CODE 77 TIMEOUT 3600
  FIXTURES_REQUIRED "golden_g2p;golden_model_g2p_rules;golden_hash_g2p")
# A real student, which pip brings; the test is skipped where pip cannot.
add_test(NAME board_mps3-an547_real_student COMMAND bash "${CMAKE_SOURCE_DIR}/tests/convert/student.sh"
  "${CMAKE_BINARY_DIR}/tests/convert/student" bash "${CMAKE_CURRENT_SOURCE_DIR}/real_student.sh"
  "${CMAKE_CURRENT_BINARY_DIR}/mps3-an547_real_student" "${CMAKE_BINARY_DIR}" ${student_options})
set_tests_properties(board_mps3-an547_real_student PROPERTIES LABELS full FIXTURES_REQUIRED "${student_fixtures}"
  SKIP_RETURN_CODE 77 TIMEOUT 3600 RESOURCE_LOCK student_folder)

# A user's own board, in another folder.
add_test(NAME own_board COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/own_board.sh" "${CMAKE_CURRENT_BINARY_DIR}/own_board"
  $<TARGET_FILE:goldcrest-convert> $<TARGET_FILE:goldcrest-translate>)
set_tests_properties(own_board PROPERTIES LABELS fast TIMEOUT 600)

# The page of the Raspberry Pi, command for command.
foreach(bits 64 32)
  add_test(NAME board_raspberry_pi_${bits} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/raspberry_pi.sh" ${bits}
    "${CMAKE_CURRENT_BINARY_DIR}/raspberry_pi_${bits}" "${CMAKE_BINARY_DIR}")
  set_tests_properties(board_raspberry_pi_${bits} PROPERTIES LABELS fast
    FIXTURES_REQUIRED "golden_hash_g2p;golden_hash_speech;golden_hash_speech_whisper" TIMEOUT 1800
    RESOURCE_LOCK raspberry_pi_${bits} COST 1000)
endforeach()
