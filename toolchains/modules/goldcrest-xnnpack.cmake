# SPDX-License-Identifier: Apache-2.0
# The component `xnnpack` of find_package(goldcrest): the library goldcrest::xnnpack, with this machine's XNNPACK.
set(goldcrest_xnnpack_parts XNNPACK pthreadpool)
find_library(GOLDCREST_LIBRARY_XNNPACK XNNPACK)
if(GOLDCREST_LIBRARY_XNNPACK MATCHES "[.]a$")
  list(APPEND goldcrest_xnnpack_parts microkernels-prod cpuinfo m)
endif()
set(goldcrest_xnnpack_libraries "")
set(goldcrest_xnnpack_missing "")
foreach(part IN LISTS goldcrest_xnnpack_parts)
  find_library(GOLDCREST_LIBRARY_${part} ${part})
  if(GOLDCREST_LIBRARY_${part})
    list(APPEND goldcrest_xnnpack_libraries "${GOLDCREST_LIBRARY_${part}}")
  else()
    string(APPEND goldcrest_xnnpack_missing " ${part}")
  endif()
endforeach()
if(goldcrest_xnnpack_missing)
  string(CONCAT goldcrest_NOT_FOUND_MESSAGE "goldcrest::xnnpack: not found:${goldcrest_xnnpack_missing}. Install "
    "libxnnpack-dev of Debian 13 or later, or name the folder of the libraries with -DCMAKE_LIBRARY_PATH=FOLDER")
  return()
endif()

set(goldcrest_xnnpack_FOUND TRUE)
if(NOT TARGET goldcrest::xnnpack)
  get_target_property(goldcrest_xnnpack_folder goldcrest::goldcrest IMPORTED_LOCATION)
  get_filename_component(goldcrest_xnnpack_folder "${goldcrest_xnnpack_folder}" DIRECTORY)
  add_library(goldcrest::xnnpack STATIC IMPORTED)
  set_target_properties(goldcrest::xnnpack PROPERTIES
    IMPORTED_LOCATION
      "${goldcrest_xnnpack_folder}/${CMAKE_STATIC_LIBRARY_PREFIX}goldcrest_xnnpack${CMAKE_STATIC_LIBRARY_SUFFIX}"
    IMPORTED_LINK_INTERFACE_LANGUAGES C INTERFACE_LINK_LIBRARIES "goldcrest::goldcrest;${goldcrest_xnnpack_libraries}")
endif()
