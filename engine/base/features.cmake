# SPDX-License-Identifier: Apache-2.0
# Reads features-inl.h: GOLDCREST_ENGINE_OPTIONS, and for each OPTION_HELP, and OPTION_TURNS_ON: those that it needs.
# Speech models have prompts; the last convolution of each has fine inputs; Moonshine has gates and rotary positions.
set(GOLDCREST_SPEECH_TURNS_ON GOLDCREST_LAYERS GOLDCREST_PROMPT GOLDCREST_ACCURACY)
set(GOLDCREST_ADDED_WORDS_TURNS_ON GOLDCREST_TEXT)
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/features-inl.h" lines REGEX "^GOLDCREST_OPTION")
set(GOLDCREST_ENGINE_OPTIONS "")
foreach(line IN LISTS lines)
  string(REPLACE ";" "," line "${line}")
  if(NOT line MATCHES "^GOLDCREST_OPTION\\([A-Za-z0-9]+, (GOLDCREST_[A-Z0-9_]+), \"([^\"]+)\"\\)$")
    message(FATAL_ERROR "features-inl.h: expected NAME, OPTION, \"HELP\" in ${line}")
  endif()
  set(option "${CMAKE_MATCH_1}")
  set(${option}_HELP "${CMAKE_MATCH_2}")
  list(APPEND GOLDCREST_ENGINE_OPTIONS ${option})
endforeach()
