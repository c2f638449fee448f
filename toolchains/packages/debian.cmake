# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` makes two Debian packages: libgoldcrest-dev (the component dev) and goldcrest-tools (tools). Files that
# only these have are in components of their own, which `cmake --install` leaves out.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT GOLDCREST_CONVERTER OR NOT GOLDCREST_PROGRAMS OR CMAKE_CROSSCOMPILING)
  return()
endif()
find_program(GOLDCREST_GZIP gzip)
if(NOT GOLDCREST_GZIP)
  return()
endif()
set(CPACK_PACKAGE_NAME goldcrest)
set(CPACK_PACKAGE_CONTACT "${GOLDCREST_PACKAGE_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL dev dev_debian tools tools_debian)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libgoldcrest-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME goldcrest-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_DEV_DESCRIPTION "The library: it runs trained encoder-decoder Transformers in memory that the
program owns. This package has the static library of C, its headers, and files
for CMake and pkg-config.")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "The programs: they convert checkpoints of encoder-decoder Transformers to files
of int8 weights, look into such files, translate and transcribe with them.")
if(GOLDCREST_PACKAGE_URL)
  set(CPACK_PACKAGE_HOMEPAGE_URL "${GOLDCREST_PACKAGE_URL}")
endif()

set(debian "${CMAKE_CURRENT_BINARY_DIR}/debian")
string(TIMESTAMP year "%Y" UTC)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT "${debian}/changelog" @ONLY CONTENT [[
goldcrest (@PROJECT_VERSION@) unstable; urgency=medium

  * Release @PROJECT_VERSION@.

 -- @CPACK_PACKAGE_CONTACT@  @date@
]])
string(REGEX REPLACE " *<.*" "" holder "${CPACK_PACKAGE_CONTACT}")
file(CONFIGURE OUTPUT "${debian}/copyright" @ONLY CONTENT [[
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: goldcrest
Source: Goldcrest's repository

Files: *
Copyright: @year@ @holder@
License: Apache-2.0
 The text of the licence is in /usr/share/common-licenses/Apache-2.0.
]])
execute_process(COMMAND "${GOLDCREST_GZIP}" -9nf "${debian}/changelog" COMMAND_ERROR_IS_FATAL ANY)
foreach(component dev tools)
  set(CPACK_COMPONENT_${component}_GROUP ${component})
  set(CPACK_COMPONENT_${component}_debian_GROUP ${component})
  string(TOUPPER ${component} upper)
  string(TOUPPER ${component}_debian upper_debian)
  set(CPACK_COMPONENT_${upper}_GROUP ${component})
  set(CPACK_COMPONENT_${upper_debian}_GROUP ${component})
  install(FILES "${debian}/copyright" "${debian}/changelog.gz" COMPONENT ${component}_debian EXCLUDE_FROM_ALL
    DESTINATION "share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
endforeach()

# Debian compresses manual pages, and has a folder of its own for completions of zsh.
install(CODE "
  set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share\")
  file(GLOB pages \"\${share}/man/man1/*.1\")
  execute_process(COMMAND \"${GOLDCREST_GZIP}\" -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
  file(RENAME \"\${share}/zsh/site-functions\" \"\${share}/zsh/vendor-completions\")"
  COMPONENT tools_debian EXCLUDE_FROM_ALL)
include(CPack)
