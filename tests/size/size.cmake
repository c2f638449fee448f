# SPDX-License-Identifier: Apache-2.0
# The engine's needs on a board: stack, and flash in the example firmware.

# Programs that run on this machine, in a build whose compiler makes the board's programs.
find_program(GOLDCREST_HOST_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH REQUIRED)
set(size_folder "${CMAKE_SOURCE_DIR}/tests/size")
set(size_programs "")
foreach(program stack_depth flash_bytes)
  set(${program} "${CMAKE_CURRENT_BINARY_DIR}/${program}")
  add_custom_command(OUTPUT "${${program}}" DEPENDS "${size_folder}/${program}.cc" VERBATIM
    COMMAND "${GOLDCREST_HOST_CXX}" -std=c++20 -O1 -Wall -Wextra -Wshadow -Wconversion -o "${${program}}"
      "${size_folder}/${program}.cc")
  list(APPEND size_programs "${${program}}")
endforeach()
add_custom_target(goldcrest_size_programs ALL DEPENDS ${size_programs})

# The compiler writes a call graph next to each object.
set(call_graph -fcallgraph-info=su)
target_compile_options(goldcrest PRIVATE ${call_graph})
set(measure_stack "")
if(GOLDCREST_BOARD_RUN)
  goldcrest_cxx_program(stack_test stack_test.cc)
  goldcrest_add_model(TARGET stack_test FILE "${CMAKE_SOURCE_DIR}/examples/models/g2p" SECTION .model
    LIMITS max-source=25 max-source-bytes=24 max-target=33 beam-size=4 encoder-rows=2)
  set(measure_stack ${GOLDCREST_BOARD_RUN} $<TARGET_FILE:stack_test>)
endif()
# The rules know Arm's helpers of the compiler. On other CPUs the painted stack decides.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
  add_test(NAME stack COMMAND ${measure_stack})
else()
  add_test(NAME stack COMMAND bash "${size_folder}/stack_test.sh" "${stack_depth}" "${CMAKE_SOURCE_DIR}"
  "${CMAKE_CURRENT_BINARY_DIR}/stack.txt" $<TARGET_OBJECTS:goldcrest> -- ${measure_stack} COMMAND_EXPAND_LISTS)
endif()
set_tests_properties(stack PROPERTIES LABELS "fast;size")

# goldcrest_bad_stack(KIND MEASURED MESSAGE): stack_depth finds the fault of this kind in bad_stack.cc.
function(goldcrest_bad_stack kind measured message)
  add_library(bad_stack_${kind} OBJECT "${size_folder}/bad_stack.cc")
  target_compile_options(bad_stack_${kind} PRIVATE ${call_graph} -Wno-stack-usage)
  target_compile_definitions(bad_stack_${kind} PRIVATE GOLDCREST_BAD=${kind})
  goldcrest_warnings(bad_stack_${kind})
  add_test(NAME stack_finds_${kind} COMMAND bash -c
    "echo '${measured}' > measured_${kind}.txt; \"$0\" 4096 \"$1\" measured_${kind}.txt \"\${2%.*}.ci\"; echo status $?"
    "${stack_depth}" "${size_folder}/bad_stack_rules.txt" $<TARGET_OBJECTS:bad_stack_${kind}>)
  set_tests_properties(stack_finds_${kind} PROPERTIES LABELS fast PASS_REGULAR_EXPRESSION "${message}.*status 1")
endfunction()
set(little "stack goldcrest_init 0")
goldcrest_bad_stack(1 "${little}" "recursion:")
goldcrest_bad_stack(2 "${little}" "a stack frame of unknown size")
goldcrest_bad_stack(3 "${little}" "an indirect call in size/bad_stack.cc that no rule resolves")
goldcrest_bad_stack(4 "${little}" "deepest: 8[0-9]* bytes of 4096")
goldcrest_bad_stack(5 "stack goldcrest_init 4000" "4000 measured .more than the call graph allows")

# Boards without a memory map for the English-French firmware link it only to measure its flash.
if(NOT TARGET translate_firmware AND GOLDCREST_BOARD STREQUAL "mps2-an500")
  add_executable(translate_firmware "${CMAKE_SOURCE_DIR}/examples/translate_firmware/main.c")
  target_compile_options(translate_firmware PRIVATE -std=c11 -ffunction-sections -fdata-sections)
  target_link_libraries(translate_firmware PRIVATE goldcrest::goldcrest goldcrest_board goldcrest_console_text)
  target_link_options(translate_firmware PRIVATE "-Wl,-Map=$<TARGET_FILE:translate_firmware>.map")
  goldcrest_add_model(TARGET translate_firmware FILE "${CMAKE_SOURCE_DIR}/examples/models/enfr" SECTION .model
    LIMITS max-source=64 max-source-bytes=256 max-target=64 beam-size=4 encoder-rows=4)
endif()

# In the list of budgets a program's name includes the features that its build adds to every firmware's engine.
set(features "")
foreach(feature SEARCH INSPECTION LAYERS SHORTLIST TEXT ADDED_WORDS PROMPT ACCURACY SPEECH)
  if(GOLDCREST_${feature})
    string(TOLOWER "+${feature}" feature)
    string(APPEND features ${feature})
  endif()
endforeach()
if(CMAKE_C_FLAGS MATCHES "-march=rv32" AND NOT CMAKE_C_FLAGS MATCHES "-march=rv32[a-z]*f")
  string(APPEND features +soft_float)  # RISC-V without an FPU calls the compiler's functions in more bytes
endif()
math(EXPR most_flash "64 * 1024")
# The firmware calls none of the functions of goldcrest/decoding.h. In a build with their options they are linked too.
set(decoding_calls "")
foreach(call PROMPT:prefix SEARCH:sampling SEARCH:stream SEARCH:alternatives SEARCH:sequences SHORTLIST:lexicon)
  string(REPLACE ":" ";" call ${call})
  list(GET call 0 feature)
  list(GET call 1 call)
  if(GOLDCREST_${feature})
    list(APPEND decoding_calls -Wl,--undefined=goldcrest_set_${call})
  endif()
endforeach()
add_custom_target(goldcrest_sizes DEPENDS goldcrest_size_programs)
if(TARGET stack_test)
  add_dependencies(goldcrest_sizes stack_test)
endif()
# A build for speech measures the program that uses it: the others' engines would have code that they never call.
set(measured pronounce_firmware translate_firmware)
if(TARGET transcribe_firmware)
  set(measured transcribe_firmware)
endif()
foreach(program IN LISTS measured)
  if(TARGET ${program})
    target_link_options(${program} PRIVATE ${decoding_calls})
    goldcrest_command_test(flash_of_${program} "fast;size" "${flash_bytes}" ${most_flash}
      "${size_folder}/flash_budgets.txt" "${CMAKE_SOURCE_DIR}/engine" ${program}${features} ${GOLDCREST_BOARD}
      $<TARGET_FILE:${program}>.map)
    add_dependencies(goldcrest_sizes ${program})
  endif()
endforeach()
# The test must find a budget that is too small.
goldcrest_command_test(flash_finds_growth fast "${flash_bytes}" 16384 "${size_folder}/flash_budgets.txt"
  "${CMAKE_SOURCE_DIR}/engine" pronounce_firmware ${GOLDCREST_BOARD} $<TARGET_FILE:pronounce_firmware>.map
  PROPERTIES PASS_REGULAR_EXPRESSION "the engine has grown")

# The example firmware's ELF has no symbol of a heap, of streams or of exceptions either.
foreach(program pronounce_firmware translate_firmware phrases_firmware transcribe_firmware superloop benchmark_firmware)
  if(TARGET ${program})
    goldcrest_symbols_test(${program})
  endif()
endforeach()

# goldcrest_part_size(NAME BYTES FUNCTION SOURCES FIRMWARE): SOURCES cost a firmware flash only if it calls FUNCTION.
function(goldcrest_part_size name bytes called sources firmware)
  goldcrest_command_test(flash_of_${name} "fast;size" sh "${size_folder}/part_size.sh" "${CMAKE_NM}" ${bytes} ${called}
    "${sources}" $<TARGET_FILE:${firmware}> $<TARGET_OBJECTS:goldcrest> COMMAND_EXPAND_LISTS)
endfunction()
if(GOLDCREST_BOARD STREQUAL "mps3-an547")
  goldcrest_part_size(sentences 2000 goldcrest_next_part "text/sentences.cc text/characters.cc" pronounce_firmware)
  if(TARGET transcribe_firmware)  # flash_budgets.txt says what else images take
    goldcrest_part_size(images 1750 goldcrest_image_begin api/image.cc transcribe_firmware)
  endif()
endif()
