# SPDX-License-Identifier: Apache-2.0
# Messages of the programs that run models about bad lines, bad files and streams that fail.
goldcrest_test(programs_translate_lines_test SOURCES translate_lines_test.cc LIBRARIES goldcrest_programs)
goldcrest_test(programs_translate_inspect_test SOURCES translate_inspect_test.cc LIBRARIES goldcrest_programs)
goldcrest_test(programs_translate_ids_test SOURCES translate_ids_test.cc LIBRARIES goldcrest_programs goldcrest_load goldcrest_pack)
goldcrest_test(programs_choices_test SOURCES choices_test.cc LIBRARIES goldcrest_programs)
target_compile_definitions(programs_choices_test PRIVATE "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\""
  "GOLDCREST_PREDICTIONS_PROGRAM=\"$<TARGET_FILE:goldcrest-predictions>\"")
add_dependencies(programs_choices_test goldcrest-bench goldcrest-predictions)
goldcrest_test(programs_streams_test SOURCES streams_test.cc LIBRARIES goldcrest_programs)
goldcrest_test(programs_messages_test SOURCES messages_test.cc LIBRARIES goldcrest_programs goldcrest_messages goldcrest_load goldcrest_pack)
target_compile_definitions(programs_streams_test PRIVATE "GOLDCREST_BENCH_PROGRAM=\"$<TARGET_FILE:goldcrest-bench>\"")
add_dependencies(programs_streams_test goldcrest-bench)
goldcrest_test(programs_translate_codes_test SOURCES translate_codes_test.cc LIBRARIES goldcrest_programs goldcrest_checkpoint_writer)
goldcrest_test(programs_translate_sentences_test SOURCES translate_sentences_test.cc LIBRARIES goldcrest_programs goldcrest_checkpoint_writer)
goldcrest_test(programs_translate_text_test SOURCES translate_text_test.cc LIBRARIES goldcrest_programs)
