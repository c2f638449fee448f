# SPDX-License-Identifier: Apache-2.0
# Arduino and PlatformIO: libraries of one layout (packages.cmake). src/ is the include folder, and all of its files are
# compiled: those whose name ends in .cpp, because arduino-builder leaves out .cc. The options are macros of
# goldcrest_options.h, or flags of the build.
set(name pronounce)
foreach(folder IN ITEMS "${OUTPUT}/arduino/Goldcrest" "${OUTPUT}/platformio/goldcrest")
  file(COPY "${SOURCES}/LICENSE" DESTINATION "${folder}")
  file(COPY "${SOURCES}/include/" "${SOURCES}/source/" DESTINATION "${folder}/src" FILES_MATCHING PATTERN "*.h")
  file(WRITE "${folder}/src/Goldcrest.h" "// SPDX-License-Identifier: ${license}\n#include \"goldcrest/goldcrest.h\"\n")
  file(WRITE "${folder}/src/goldcrest_options.h" "// SPDX-License-Identifier: ${license}
// The engine's options. Take the slashes away before those that your model needs; goldcrest_init names a missing one.
#pragma once\n\n${macros}\n// The options that others need.\n${macro_rules}")
  # Every source begins with this header.
  file(APPEND "${folder}/src/base/exact_floats.h" "\n#include \"goldcrest_options.h\"\n")
  foreach(file IN LISTS base_sources)
    string(REGEX REPLACE "^source/(.*)[.]cc$" "\\1.cpp" path "${file}")
    configure_file("${SOURCES}/${file}" "${folder}/src/${path}" COPYONLY)
  endforeach()
endforeach()

set(folder "${OUTPUT}/arduino/Goldcrest")
goldcrest_write_readme("${folder}" "Arduino")
goldcrest_copy_example("${folder}/examples/${name}" arduino.cc ${name}.ino)
file(WRITE "${folder}/library.properties" "name=Goldcrest
version=${VERSION}
author=${maintainer}
maintainer=${CONTACT}
sentence=${DESCRIPTION}.
paragraph=Translates, transcribes and pronounces in static memory, without a network. The licence is ${license}.
category=Data Processing
url=${URL}
architectures=esp32,rp2040,stm32
includes=Goldcrest.h
")

set(folder "${OUTPUT}/platformio/goldcrest")
goldcrest_write_readme("${folder}" "PlatformIO")
goldcrest_copy_example("${folder}/examples/${name}/src" arduino.cc main.cpp)
configure_file("${room}/example/plain.c" "${folder}/examples/${name}/src/native.c" COPYONLY)
file(WRITE "${folder}/examples/${name}/platformio.ini" "; SPDX-License-Identifier: ${license}
[env]
lib_extra_dirs = ../../..

; Your machine.
[env:native]
platform = native
build_src_filter = +<*> -<main.cpp>

[board]
framework = arduino
build_src_filter = +<*> -<native.c>
monitor_speed = 115200

[env:esp32c3]
extends = board
platform = espressif32
board = esp32-c3-devkitm-1

[env:nucleo_h743zi]
extends = board
platform = ststm32
board = nucleo_h743zi
")
set(repository "")
if(URL)
  set(repository "  \"repository\": {\"type\": \"git\", \"url\": \"${URL}\"},\n")
endif()
file(WRITE "${folder}/library.json" "{
  \"$schema\":
    \"https://raw.githubusercontent.com/platformio/platformio-core/develop/platformio/assets/schema/library.json\",
  \"name\": \"goldcrest\",
  \"version\": \"${VERSION}\",
  \"description\": \"${DESCRIPTION}\",
  \"keywords\": [\"transformer\", \"inference\", \"int8\", \"translation\", \"speech\"],
${repository}  \"authors\": [{\"name\": \"${maintainer}\", \"maintainer\": true}],
  \"license\": \"${license}\",
  \"frameworks\": \"*\",
  \"platforms\": \"*\",
  \"headers\": \"Goldcrest.h\",
  \"build\": {\"flags\": [\"-O2\", \"-fno-math-errno\", \"-fno-exceptions\"]},
  \"examples\": [{\"name\": \"${name}\", \"base\": \"examples/${name}\",
    \"files\": [\"platformio.ini\", \"src/main.cpp\", \"src/native.c\", \"src/pronounce.c\", \"src/pronounce.h\",
      \"src/model_g2p_small.c\", \"src/model_g2p_small.h\"]}]
}
")
