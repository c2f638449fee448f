# SPDX-License-Identifier: Apache-2.0
# Guesses names for messages, and identifies a file by its contents. Needs only the C++ standard library, because
# programs that run models use both too.
add_library(goldcrest_choices STATIC sources/messages/messages.cc)
target_compile_features(goldcrest_choices PUBLIC cxx_std_17 PRIVATE cxx_std_20)
target_link_libraries(goldcrest_choices PUBLIC goldcrest_printable)
goldcrest_quick_build(goldcrest_choices)
goldcrest_warnings(goldcrest_choices)

# The options of all programs. They are read once: CLI11 compiles in less than half the time without optimization.
find_package(CLI11 REQUIRED)
add_library(goldcrest_options STATIC sources/messages/options.cc)
target_compile_features(goldcrest_options PUBLIC cxx_std_17)
target_compile_options(goldcrest_options PRIVATE -O0)
target_link_libraries(goldcrest_options PUBLIC goldcrest_choices PRIVATE CLI11::CLI11)
goldcrest_warnings(goldcrest_options)

add_library(goldcrest_sniff STATIC
  sources/sniffing/peek.cc
  sources/sniffing/sniff_family.cc
  sources/sniffing/sniff_file.cc
  sources/sniffing/sniff_folder.cc
  sources/sniffing/sniff_head.cc
  sources/sniffing/sniff_kinds.cc)
target_compile_features(goldcrest_sniff PUBLIC cxx_std_20)
target_include_directories(goldcrest_sniff PUBLIC "${goldcrest_SOURCE_DIR}/converter")
target_link_libraries(goldcrest_sniff PUBLIC goldcrest_choices)
goldcrest_quick_build(goldcrest_sniff)
goldcrest_warnings(goldcrest_sniff)
