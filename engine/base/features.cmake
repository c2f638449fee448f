# SPDX-License-Identifier: Apache-2.0
# Reads features-inl.h: GOLDCREST_FEATURE_OPTIONS, and for each option OPTION_HELP and OPTION_SOURCES (paths inside engine/).
# OPTION_TURNS_ON: the options without which it cannot be built. OPTION_NEEDS: the option without which it stays off.
set(GOLDCREST_LEXICON_TURNS_ON GOLDCREST_SHORTLIST)  # whose panels hold the allowed outputs
# Speech models have prompts, and the last convolution of each has fine inputs.
set(GOLDCREST_SPEECH_TURNS_ON GOLDCREST_PROMPT GOLDCREST_REFINED GOLDCREST_PREFIX)
set(GOLDCREST_LOG_MEL_NEEDS GOLDCREST_SPEECH)
set(GOLDCREST_PROMPT_TURNS_ON GOLDCREST_PREFIX)
set(GOLDCREST_ADDED_WORDS_TURNS_ON GOLDCREST_ADDED_TOKENS)
set(GOLDCREST_REFINED_WEIGHTS_TURNS_ON GOLDCREST_REFINED)  # whose scratch holds the products
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/features-inl.h" lines REGEX "^GOLDCREST_FEATURE")
set(GOLDCREST_FEATURE_OPTIONS "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^GOLDCREST_FEATURE\\([A-Za-z0-9]+, [0-9]+, (GOLDCREST_[A-Z0-9_]+), \"([^\"]+)\", \"([^\"]*)\"\\)$")
    message(FATAL_ERROR "features-inl.h: expected NAME, BIT, OPTION, \"HELP\", \"SOURCES\" in ${line}")
  endif()
  set(option "${CMAKE_MATCH_1}")
  set(${option}_HELP "${CMAKE_MATCH_2}")
  string(REPLACE " " ";" ${option}_SOURCES "${CMAKE_MATCH_3}")
  list(APPEND GOLDCREST_FEATURE_OPTIONS ${option})
endforeach()
