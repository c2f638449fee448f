# SPDX-License-Identifier: Apache-2.0
# The golden hash of each shipped model, which all tables share. Cross builds compare their hashes with these files.
set(golden "${CMAKE_CURRENT_BINARY_DIR}/golden")
file(MAKE_DIRECTORY "${golden}")
foreach(task enfr g2p g2p-bytes)
  string(REPLACE "-bytes" "" words ${task})
  add_test(NAME golden_model_${task}
    COMMAND goldcrest-convert --quiet "${CMAKE_SOURCE_DIR}/examples/models/${task}" -o "${golden}/${task}.gcst")
  add_test(NAME golden_hash_${task} COMMAND sh -c
    "'$<TARGET_FILE:golden_hash>' '${golden}/${task}.gcst' '${CMAKE_SOURCE_DIR}/tests/data/${words}/valid.tsv' > '${golden}/${task}.hash'")
  set_tests_properties(golden_model_${task} PROPERTIES FIXTURES_SETUP golden_${task})
  set_tests_properties(golden_hash_${task} PROPERTIES FIXTURES_REQUIRED golden_${task} FIXTURES_SETUP golden_hash_${task})
  set_tests_properties(golden_model_${task} golden_hash_${task} PROPERTIES LABELS fast)
endforeach()

# A small student with random weights and recurrent layers; a second one also has a shortlist and a limit by the
# source's length.
add_test(NAME golden_checkpoint_student COMMAND make_golden_checkpoint student "${golden}/student")
set_tests_properties(golden_checkpoint_student PROPERTIES LABELS fast FIXTURES_SETUP golden_checkpoint_student)
foreach(student student student_listed)
  set(options --shortlist none)
  if(student STREQUAL "student_listed")
    set(options --config "${golden}/student/listed.yml")
  endif()
  add_test(NAME golden_model_${student}
    COMMAND goldcrest-convert --quiet "${golden}/student" -o "${golden}/${student}.gcst" ${options})
  add_test(NAME golden_hash_${student} COMMAND sh -c
    "'$<TARGET_FILE:golden_hash>' '${golden}/${student}.gcst' '${CMAKE_SOURCE_DIR}/tests/data/enfr/valid.tsv' > '${golden}/${student}.hash'")
  set_tests_properties(golden_model_${student} PROPERTIES FIXTURES_REQUIRED golden_checkpoint_student FIXTURES_SETUP golden_${student})
  set_tests_properties(golden_hash_${student} PROPERTIES FIXTURES_REQUIRED golden_${student} FIXTURES_SETUP golden_hash_${student})
  set_tests_properties(golden_model_${student} golden_hash_${student} PROPERTIES LABELS fast)
endforeach()

# The hash of what inspection shows of its searches, for a board's test of inspection.
add_test(NAME golden_inspection_g2p COMMAND sh -c
  "'$<TARGET_FILE:golden_inspection>' '${golden}/g2p.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/g2p.inspection'")
set_tests_properties(golden_inspection_g2p PROPERTIES LABELS fast FIXTURES_REQUIRED golden_g2p
  FIXTURES_SETUP golden_inspection_g2p)

# The hash of 100 texts that it draws at random, for a board's test of sampling.
add_test(NAME golden_samples_g2p COMMAND sh -c
  "'$<TARGET_FILE:golden_inspection>' --samples '${golden}/g2p.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/g2p.samples'")
set_tests_properties(golden_samples_g2p PROPERTIES LABELS fast FIXTURES_REQUIRED golden_g2p
  FIXTURES_SETUP golden_samples_g2p)

# The hash of its searches under rules of every kind, for a board's test of rules.
set(rules [=["repetition_penalty": 1.3, "no_repeat_ngram": 2, "renormalize": true, "early_stopping": "never", "force_end": false,
  "length_penalty_kind": "wu", "max_extra_tokens": 2, "more_end_tokens": ["Z"], "token_biases": [["T", 0.5], ["AH0", -0.5]],]=])
file(READ "${CMAKE_SOURCE_DIR}/examples/models/g2p/config.json" config)
string(REGEX REPLACE "^{" "{${rules}" config "${config}")
file(WRITE "${golden}/g2p_rules/config.json" "${config}")
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/examples/models/g2p/model.safetensors" "${golden}/g2p_rules/model.safetensors" SYMBOLIC)
add_test(NAME golden_model_g2p_rules
  COMMAND goldcrest-convert --quiet "${golden}/g2p_rules" -o "${golden}/g2p_rules.gcst")
add_test(NAME golden_rules_g2p COMMAND sh -c
  "'$<TARGET_FILE:golden_inspection>' --searches '${golden}/g2p_rules.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/g2p_rules.hash'")
# Second products of every kind, for cross builds, and for firmware that refuses it.
add_test(NAME golden_model_g2p_refined COMMAND goldcrest-convert --quiet "${CMAKE_SOURCE_DIR}/examples/models/g2p-small"
  -o "${golden}/g2p_refined.gcst" --accuracy near --matrices "projection=exact,*.attention=exact")
add_test(NAME golden_hash_g2p_refined COMMAND sh -c
  "'$<TARGET_FILE:golden_hash>' '${golden}/g2p_refined.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/g2p_refined.hash'")
set_tests_properties(golden_model_g2p_rules golden_model_g2p_refined PROPERTIES FIXTURES_SETUP golden_model_g2p_rules)
set_tests_properties(golden_hash_g2p_refined PROPERTIES LABELS fast FIXTURES_REQUIRED golden_model_g2p_rules
  FIXTURES_SETUP golden_hash_g2p_refined)
set_tests_properties(golden_rules_g2p PROPERTIES FIXTURES_REQUIRED golden_model_g2p_rules FIXTURES_SETUP golden_rules_g2p)
set_tests_properties(golden_model_g2p_rules golden_model_g2p_refined golden_rules_g2p PROPERTIES LABELS fast)

# All pronunciations, for the boards' full tests.
add_test(NAME golden_hash_g2p_all COMMAND sh -c
  "'$<TARGET_FILE:golden_hash>' --all '${golden}/g2p.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/g2p_all.hash'")
set_tests_properties(golden_hash_g2p_all PROPERTIES LABELS full FIXTURES_REQUIRED golden_g2p
  FIXTURES_SETUP golden_hash_g2p_all)

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
  add_test(NAME golden_checkpoint_${task} COMMAND make_golden_checkpoint ${family} "${golden}/${task}")
  add_test(NAME golden_model_${task}
    COMMAND goldcrest-convert --quiet "${golden}/${task}" -o "${golden}/${task}.gcst" ${options}
      --voice "${golden}/${task}.voice.safetensors")
  add_test(NAME golden_hash_${task} COMMAND golden_speech "${golden}/${task}.gcst" "${golden}/${task}.raw" "${golden}/${task}")
  set_tests_properties(golden_checkpoint_${task} PROPERTIES FIXTURES_SETUP golden_checkpoint_${task})
  set_tests_properties(golden_model_${task} PROPERTIES FIXTURES_REQUIRED golden_checkpoint_${task} FIXTURES_SETUP golden_${task})
  set_tests_properties(golden_hash_${task} PROPERTIES FIXTURES_REQUIRED golden_${task} FIXTURES_SETUP golden_hash_${task})
  set_tests_properties(golden_checkpoint_${task} golden_model_${task} golden_hash_${task} PROPERTIES LABELS fast)
endforeach()

# Families of Hugging Face: t5 is a FLAN-T5, whose blocks have RMS norms, gates and biases by distance. nllb has a table of
# languages without default ones.
foreach(task t5 nllb)
  set(kind ${task})
  set(options --force-end)  # firmware without rules forces it
  if(task STREQUAL "t5")
    set(kind flan)
    list(APPEND options --max-positions 64)
  endif()
  add_test(NAME golden_checkpoint_${task} COMMAND make_golden_checkpoint ${kind} "${golden}/${task}")
  add_test(NAME golden_model_${task}
    COMMAND goldcrest-convert --quiet "${golden}/${task}" -o "${golden}/${task}.gcst" ${options})
  set_tests_properties(golden_checkpoint_${task} PROPERTIES FIXTURES_SETUP golden_checkpoint_${task})
  set_tests_properties(golden_model_${task} PROPERTIES FIXTURES_REQUIRED golden_checkpoint_${task} FIXTURES_SETUP golden_${task})
  set_tests_properties(golden_checkpoint_${task} golden_model_${task} PROPERTIES LABELS fast)
endforeach()
add_test(NAME golden_hash_t5 COMMAND sh -c
  "'$<TARGET_FILE:golden_hash>' '${golden}/t5.gcst' '${CMAKE_SOURCE_DIR}/tests/data/g2p/valid.tsv' > '${golden}/t5.hash'")
set_tests_properties(golden_hash_t5 PROPERTIES LABELS fast FIXTURES_REQUIRED golden_t5 FIXTURES_SETUP golden_hash_t5)
# Models of two shapes for a board's test of lexicons.
foreach(shape wide base)
  add_test(NAME golden_checkpoint_${shape} COMMAND make_golden_checkpoint ${shape} "${golden}/${shape}")
  add_test(NAME golden_model_${shape} COMMAND goldcrest-convert --quiet "${golden}/${shape}" -o "${golden}/${shape}.gcst")
  set_tests_properties(golden_checkpoint_${shape} PROPERTIES LABELS full FIXTURES_SETUP golden_checkpoint_${shape})
  set_tests_properties(golden_model_${shape} PROPERTIES LABELS full FIXTURES_REQUIRED golden_checkpoint_${shape}
    FIXTURES_SETUP golden_${shape})
endforeach()
