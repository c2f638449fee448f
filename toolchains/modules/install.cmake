# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs headers, library, find_package(goldcrest), pkg-config's file, and the programs if they are
# built. The components are `dev` and `tools`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/goldcrest")
set(left_out PATTERN xnnpack.h EXCLUDE)
if(GOLDCREST_HAS_XNNPACK)
  set(left_out "")
  install(TARGETS goldcrest_xnnpack ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
  install(FILES toolchains/modules/goldcrest-xnnpack.cmake DESTINATION "${package_folder}" COMPONENT dev)
endif()
install(DIRECTORY engine/include/goldcrest DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev ${left_out})
install(TARGETS goldcrest ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT license)
set(no_pages PATTERN "*goldcrest-convert*" EXCLUDE)
if(GOLDCREST_CONVERTER)
  install(TARGETS goldcrest-convert RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  set(no_pages "")
endif()
if(GOLDCREST_PROGRAMS)
  install(TARGETS goldcrest-translate goldcrest-transcribe goldcrest-inspect goldcrest-bench RUNTIME
    DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
  foreach(program goldcrest-serve goldcrest-read)
    if(TARGET ${program})
      install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools OPTIONAL)
    endif()
  endforeach()
  # Manual pages and completions.
  install(DIRECTORY toolchains/shell/ DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT tools ${no_pages})
endif()

set(library_name "${CMAKE_STATIC_LIBRARY_PREFIX}goldcrest${CMAKE_STATIC_LIBRARY_SUFFIX}")
set(config "${CMAKE_CURRENT_BINARY_DIR}/goldcrest-config")
configure_package_config_file(toolchains/modules/goldcrest-config.cmake.in "${config}.cmake"
  INSTALL_DESTINATION "${package_folder}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file("${config}-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${config}.cmake" "${config}-version.cmake" toolchains/modules/goldcrest_add_model.cmake
  DESTINATION "${package_folder}" COMPONENT dev)

file(RELATIVE_PATH goldcrest_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" goldcrest_prefix "${goldcrest_prefix}")
# The library is where this file says, wherever the package is put.
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/goldcrest.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@goldcrest_prefix@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: goldcrest
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L${libdir} -lgoldcrest
Cflags: -I${includedir}
]])
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/goldcrest.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
