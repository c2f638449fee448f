# SPDX-License-Identifier: Apache-2.0
# Identifies a file by its contents; goldcrest-inspect uses it without the converter.
add_library(goldcrest_sniff STATIC
  sources/sniffing/peek.cc
  sources/sniffing/sniff_family.cc
  sources/sniffing/sniff_file.cc
  sources/sniffing/sniff_folder.cc
  sources/sniffing/sniff_head.cc
  sources/sniffing/sniff_kinds.cc)
target_compile_features(goldcrest_sniff PUBLIC cxx_std_20)
target_include_directories(goldcrest_sniff PUBLIC "${goldcrest_SOURCE_DIR}/converter")
target_link_libraries(goldcrest_sniff PUBLIC goldcrest_host)
goldcrest_quick_build(goldcrest_sniff)
goldcrest_warnings(goldcrest_sniff)
