# SPDX-License-Identifier: Apache-2.0
# The golden hash of each shipped model, which all tables share. Cross builds compare their hashes with these files.
set(golden "${CMAKE_CURRENT_BINARY_DIR}/golden")
file(MAKE_DIRECTORY "${golden}")

# goldcrest_golden_test(TEST LABEL REQUIRED SETUP COMMAND...): a step that makes the fixture SETUP and needs the fixture
# REQUIRED, if that is not "".
function(goldcrest_golden_test test label required setup)
  goldcrest_command_test(${test} ${label} ${ARGN} PROPERTIES FIXTURES_SETUP "${setup}")
  if(required)
    set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED ${required})
  endif()
endfunction()

# goldcrest_golden_model(NAME CHECKPOINT REQUIRED LABEL OPTION...): converts to NAME.gcst, the fixture golden_NAME.
function(goldcrest_golden_model name checkpoint required label)
  goldcrest_golden_test(golden_model_${name} ${label} "${required}" golden_${name}
    goldcrest-convert --quiet "${checkpoint}" -o "${golden}/${name}.gcst" ${ARGN})
endfunction()

# goldcrest_golden_output(TEST LABEL MODEL DATA FILE PROGRAM [OPTION]): the fixture TEST is FILE, which PROGRAM prints
# for the fixture golden_MODEL and the lines of DATA.
function(goldcrest_golden_output test label model data file program)
  goldcrest_golden_test(${test} ${label} golden_${model} ${test} sh -c "\"$@\" > '${golden}/${file}'" sh
    $<TARGET_FILE:${program}> ${ARGN} "${golden}/${model}.gcst" "${CMAKE_SOURCE_DIR}/tests/data/${data}/valid.tsv")
endfunction()

set(models "${CMAKE_SOURCE_DIR}/examples/models")
goldcrest_golden_model(lines "${models}/lines" "" fast)  # programs/read_test.cc has its hash
foreach(task enfr g2p g2p-bytes)
  string(REPLACE "-bytes" "" words ${task})
  goldcrest_golden_model(${task} "${models}/${task}" "" fast)
  goldcrest_golden_output(golden_hash_${task} fast ${task} ${words} ${task}.hash golden_hash)
endforeach()

# A small student with random weights and recurrent layers; a second one also has a shortlist and a limit by the
# source's length.
goldcrest_golden_test(golden_checkpoint_student fast "" golden_checkpoint_student
  make_golden_checkpoint student "${golden}/student")
goldcrest_golden_model(student "${golden}/student" golden_checkpoint_student fast --shortlist none)
goldcrest_golden_model(student_listed "${golden}/student" golden_checkpoint_student fast
  --config "${golden}/student/listed.yml")
foreach(student student student_listed)
  goldcrest_golden_output(golden_hash_${student} fast ${student} enfr ${student}.hash golden_hash)
endforeach()

# The hash of what inspection shows of its searches, for a board's test of inspection.
goldcrest_golden_output(golden_inspection_g2p fast g2p g2p g2p.inspection golden_inspection)
# The hash of 100 texts that it draws at random, for a board's test of sampling.
goldcrest_golden_output(golden_samples_g2p fast g2p g2p g2p.samples golden_inspection --samples)
# All pronunciations, for the boards' full tests.
goldcrest_golden_output(golden_hash_g2p_all full g2p g2p g2p_all.hash golden_hash --all)

# The hash of its searches under rules of every kind, for a board's test of rules.
set(rules [=["repetition_penalty": 1.3, "no_repeat_ngram": 2, "renormalize": true, "early_stopping": "never",
  "force_end": false, "length_penalty_kind": "wu", "max_extra_tokens": 2, "more_end_tokens": ["Z"],
  "token_biases": [["T", 0.5], ["AH0", -0.5]],]=])
file(READ "${models}/g2p/config.json" config)
string(REGEX REPLACE "^{" "{${rules}" config "${config}")
file(WRITE "${golden}/g2p_rules/config.json" "${config}")
file(CREATE_LINK "${models}/g2p/model.safetensors" "${golden}/g2p_rules/model.safetensors" SYMBOLIC)
goldcrest_golden_test(golden_model_g2p_rules fast "" "golden_model_g2p_rules;golden_g2p_rules"
  goldcrest-convert --quiet "${golden}/g2p_rules" -o "${golden}/g2p_rules.gcst")
goldcrest_golden_output(golden_rules_g2p fast g2p_rules g2p g2p_rules.hash golden_inspection --searches)
# Second products of every kind, for cross builds, and for firmware that refuses it.
goldcrest_golden_test(golden_model_g2p_refined fast "" "golden_model_g2p_rules;golden_g2p_refined" goldcrest-convert
  --quiet "${models}/g2p-small" -o "${golden}/g2p_refined.gcst"
  --accuracy near --matrices "projection=exact,*.attention=exact")
goldcrest_golden_output(golden_hash_g2p_refined fast g2p_refined g2p g2p_refined.hash golden_hash)
# Weights of 4 bits, and the int8 weights that they stand for, which have the hash of both.
goldcrest_golden_model(g2p_packed "${models}/g2p-small" "" fast --pack all)
goldcrest_golden_model(g2p_unpacked "${golden}/g2p_packed.gcst" golden_g2p_packed fast --pack none)
goldcrest_golden_output(golden_hash_g2p_unpacked fast g2p_unpacked g2p g2p_unpacked.hash golden_hash)

# goldcrest_golden_random(NAME KIND LABEL OPTION...): the model of a KIND of made-up checkpoint.
function(goldcrest_golden_random name kind label)
  goldcrest_golden_test(golden_checkpoint_${name} ${label} "" golden_checkpoint_${name}
    make_golden_checkpoint ${kind} "${golden}/${name}")
  goldcrest_golden_model(${name} "${golden}/${name}" golden_checkpoint_${name} ${label} ${ARGN})
endfunction()

# Speech: recorded random models with a random voice detector, and a clip of a second. speech is a Moonshine,
# speech_whisper a Whisper. speech_integers is the Moonshine with integer weights of attention.
foreach(task speech speech_whisper speech_integers)
  set(family moonshine)
  set(options --max-seconds 1 --force-end)
  if(task STREQUAL "speech_whisper")
    set(family whisper)
    set(options "")
  endif()
  if(NOT task STREQUAL "speech_integers")
    list(APPEND options --attention float)
  endif()
  goldcrest_golden_random(${task} ${family} fast ${options} --voice "${golden}/${task}.voice.safetensors")
  goldcrest_golden_test(golden_hash_${task} fast golden_${task} golden_hash_${task}
    golden_speech "${golden}/${task}.gcst" "${golden}/${task}.raw" "${golden}/${task}")
endforeach()

# Families of Hugging Face: t5 is a FLAN-T5, whose blocks have RMS norms, gates and biases by distance. nllb has a table
# of languages without default ones. Firmware without rules forces the end.
goldcrest_golden_random(t5 flan fast --force-end --max-positions 64)
goldcrest_golden_random(nllb nllb fast --force-end)
goldcrest_golden_output(golden_hash_t5 fast t5 g2p t5.hash golden_hash)
# Models of two shapes for a board's test of lexicons.
foreach(shape wide base)
  goldcrest_golden_random(${shape} ${shape} full)
endforeach()
