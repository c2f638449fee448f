#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses Goldcrest as a package of Conan or vcpkg, without network. Conan is the program itself; it takes the libraries of
# the system (platform_requires). vcpkg's port runs over stand-ins of vcpkg's functions, and vcpkg.json is compared with
# the fields of vcpkg's documentation. Leaves with 77 and a sentence where Conan or Python is missing. GOLDCREST_CONAN names
# another Conan [conan].
# Usage: packages.sh conan|vcpkg WORK SOURCE BUILD CONVERTER
#   BUILD, CONVERTER   a build of SOURCE for this machine, and its goldcrest-convert
set -euo pipefail
manager=$1 work=$2 source=$3 build=$4 converter=$5
fail() { echo "packages.sh $manager: $*" >&2; exit 1; }
skip() { echo "packages.sh: skipped: $*"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
version=$(sed -n 's/^project(goldcrest VERSION \([0-9.]*\) .*/\1/p' "$source/CMakeLists.txt")
programs=(goldcrest-bench goldcrest-convert goldcrest-inspect goldcrest-transcribe goldcrest-translate)
cp -r "$source/examples/models/g2p" "$work/g2p"

# Builds and runs the program of find_package(goldcrest): check_consumer FOLDER OPTION...
check_consumer() {
  cmake -G Ninja -S "$source/tests/consumers/project" -B "$1" -DCMAKE_BUILD_TYPE=Release -DCHECKPOINT="$work/g2p" "${@:2}" \
    > "$1.log" 2>&1 && cmake --build "$1" >> "$1.log" 2>&1 || { cat "$1.log" >&2; fail "the consumer in $1 was not built"; }
  "$1/program" || fail "the consumer in $1 ends with $?"
}

conan_package() {
  local conan=${GOLDCREST_CONAN:-conan}
  command -v "$conan" > /dev/null || skip "$conan is not installed"
  [[ "$("$conan" --version)" == "Conan version 2."* ]] || skip "$("$conan" --version); the recipe is for Conan 2"
  export CONAN_HOME=$work/home
  local name package folder flatc_version version_of_system with_programs arguments
  "$conan" profile detect > "$work/conan.log" 2>&1
  {
    printf 'include(default)\n[settings]\ncompiler.cppstd=20\nbuild_type=Release\n'
    flatc_version=$(flatc --version | sed 's/.* //')
    printf '[platform_tool_requires]\nflatbuffers/%s\n[platform_requires]\nflatbuffers/%s\n' "$flatc_version" "$flatc_version"
    while read -r name package; do
      version_of_system=$(dpkg-query -W -f '${Version}' "$package" | sed 's/^[0-9]*://; s/^\([0-9.]*\).*/\1/')
      printf '%s/%s\n' "$name" "$version_of_system"
    done << 'END'
cli11 libcli11-dev
eigen libeigen3-dev
fmt libfmt-dev
nlohmann_json nlohmann-json3-dev
openssl libssl-dev
yaml-cpp libyaml-cpp-dev
zlib zlib1g-dev
END
  } > "$work/profile"
  for with_programs in False True; do
    folder=$work/programs_$with_programs
    arguments=(--no-remote -pr:a "$work/profile" -o "goldcrest/*:programs=$with_programs")
    "$conan" create "$source/toolchains/conan" "${arguments[@]}" > "$folder.log" 2>&1 || { tail -60 "$folder.log" >&2; fail "no package"; }
    "$conan" install --requires="goldcrest/$version" "${arguments[@]}" -g CMakeToolchain -g CMakeDeps -of "$folder" \
      -c tools.cmake.cmaketoolchain:user_presets= > "$folder.log" 2>&1 ||
      { tail -60 "$folder.log" >&2; fail "the package is not found"; }
    options=(-DCMAKE_TOOLCHAIN_FILE="$folder/conan_toolchain.cmake")
    [ $with_programs = True ] || options+=(-DGOLDCREST_CONVERT_EXECUTABLE="$converter")
    check_consumer "$folder/build" "${options[@]}"
    [ $with_programs = False ] || grep -q "$work/home/.*/bin/goldcrest-convert" "$folder/build/build.ninja" || fail "the package's converter is not used"
  done
  if "$conan" create "$source/toolchains/conan" --no-remote -pr:a "$work/profile" -o "goldcrest/*:programs=True" -s:h os=Windows > "$work/windows.log" 2>&1; then
    fail "programs for Windows are packaged"
  fi
  grep -q 'the programs are for Linux; os is Windows' "$work/windows.log" || { tail -20 "$work/windows.log" >&2; fail "another refusal"; }
}

# The fields that vcpkg knows, and what it asks of their values.
check_manifest() {
  python3 - "$1" "$version" << 'END'
import json, re, sys

path, version = sys.argv[1:]
identifier = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
texts = ("description", "homepage", "documentation", "license", "supports", "summary", "version")
errors = []

def check_fields(what, entry, known, needed):
    errors.extend(f"{what}: unknown field {key}" for key in entry if key not in known and not key.startswith("$"))
    errors.extend(f"{what}: no field {key}" for key in needed if key not in entry)
    errors.extend(f"{what}: {key} is no text" for key in texts if not isinstance(entry.get(key, ""), str))

def check_dependencies(what, entry):
    names = []
    for dependency in entry.get("dependencies", []):
        if isinstance(dependency, str):
            dependency = {"name": dependency}
        check_fields(what, dependency, ("name", "features", "host", "default-features", "platform", "version>="), ("name",))
        if not isinstance(dependency.get("host", False), bool):
            errors.append(f"{what}: host is no truth value")
        names.append((dependency.get("name", ""), dependency.get("host", False)))
    errors.extend(f"{what}: {name} is no name of a port" for name, _ in names if not identifier.fullmatch(name))
    if len(set(names)) != len(names):
        errors.append(f"{what}: a dependency is named twice")
    if [name for name, _ in names] != sorted(name for name, _ in names):
        errors.append(f"{what}: dependencies are not sorted, as vcpkg format-manifest does it")

manifest = json.load(open(path, encoding="utf-8"))
check_fields("vcpkg.json", manifest, texts + ("name", "port-version", "dependencies", "features", "default-features"),
             ("name", "version", "description", "license", "dependencies"))
if not identifier.fullmatch(manifest.get("name", "")):
    errors.append("name is no name of a port")
if manifest.get("version") != version or not re.fullmatch(r"[0-9]+(\.[0-9]+)*", version):
    errors.append(f"version is {manifest.get('version')}; expected {version}")
if not re.fullmatch(r"[!()&|,a-z0-9 ]+", manifest.get("supports", "linux")):
    errors.append("supports is no expression of platforms")
if manifest.get("license") != "Apache-2.0":
    errors.append("license is not that of LICENSE")
check_dependencies("vcpkg.json", manifest)
for name, feature in manifest.get("features", {}).items():
    check_fields(name, feature, ("description", "dependencies", "supports", "license"), ("description",))
    check_dependencies(name, feature)
    if not identifier.fullmatch(name):
        errors.append(f"{name} is no name of a feature")
sys.exit("\n".join(errors) or 0)
END
}

# vcpkg's functions with the arguments of its documentation. An unknown argument is an error, as in vcpkg itself.
write_stand_ins() {
  cat << 'END'
cmake_policy(VERSION 3.22)
macro(read_arguments flags values lists)
  cmake_parse_arguments(arg "${flags}" "${values}" "${lists}" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "vcpkg does not take: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
endmacro()
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_check_linkage)
  read_arguments("ONLY_STATIC_LIBRARY;ONLY_DYNAMIC_LIBRARY;ONLY_DYNAMIC_CRT;ONLY_STATIC_CRT" "" "" ${ARGN})
endfunction()
function(vcpkg_check_features)
  read_arguments("" "OUT_FEATURE_OPTIONS;PREFIX" "FEATURES;INVERTED_FEATURES" ${ARGN})
  set(options "")
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature variable)
    set(value OFF)
    if(feature IN_LIST FEATURES)
      set(value ON)
    endif()
    list(APPEND options "-D${variable}=${value}")
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  read_arguments("DISABLE_PARALLEL_CONFIGURE;NO_CHARSET_FLAG;WINDOWS_USE_MSBUILD" "SOURCE_PATH;GENERATOR;LOGFILE_BASE"
    "OPTIONS;OPTIONS_DEBUG;OPTIONS_RELEASE;MAYBE_UNUSED_VARIABLES" ${ARGN})
  run(${CMAKE_COMMAND} -G Ninja -S "${arg_SOURCE_PATH}" -B build -DCMAKE_BUILD_TYPE=Release ${arg_OPTIONS}
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_BINDIR=bin --warn-unused-vars)
endfunction()
function(vcpkg_cmake_install)
  read_arguments("DISABLE_PARALLEL;ADD_BIN_TO_PATH" "" "" ${ARGN})
  set(build build)
  if("programs" IN_LIST FEATURES)
    set(build "${OTHER_BUILD}")  # of the same sources, with the programs
  else()
    run(${CMAKE_COMMAND} --build build)
  endif()
  run(${CMAKE_COMMAND} --install "${build}" --prefix "${CURRENT_PACKAGES_DIR}")
endfunction()
function(vcpkg_cmake_config_fixup)
  read_arguments("DO_NOT_DELETE_PARENT_CONFIG_PATH;NO_PREFIX_CORRECTION" "PACKAGE_NAME;CONFIG_PATH;TOOLS_PATH" "" ${ARGN})
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/share/goldcrest")
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
  set(config "${CURRENT_PACKAGES_DIR}/share/goldcrest/goldcrest-config.cmake")
  file(READ "${config}" text)
  string(REPLACE "{CMAKE_CURRENT_LIST_DIR}/../../../" "{CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
  file(WRITE "${config}" "${text}")
endfunction()
function(vcpkg_fixup_pkgconfig)
  read_arguments("SKIP_CHECK" "" "" ${ARGN})
endfunction()
function(vcpkg_copy_tools)
  read_arguments("AUTO_CLEAN" "SEARCH_DIR;DESTINATION" "TOOL_NAMES" ${ARGN})
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/tools/goldcrest")
  foreach(tool IN LISTS arg_TOOL_NAMES)
    file(RENAME "${CURRENT_PACKAGES_DIR}/bin/${tool}" "${CURRENT_PACKAGES_DIR}/tools/goldcrest/${tool}")
  endforeach()
  file(GLOB left "${CURRENT_PACKAGES_DIR}/bin/*")
  if(left)
    message(FATAL_ERROR "not among TOOL_NAMES: ${left}")
  endif()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin")
endfunction()
function(vcpkg_replace_string file old new)
  file(READ "${file}" before)
  string(REPLACE "${old}" "${new}" after "${before}")
  if(after STREQUAL before)
    message(FATAL_ERROR "${file} does not have ${old}")
  endif()
  file(WRITE "${file}" "${after}")
endfunction()
function(vcpkg_install_copyright)
  read_arguments("" "COMMENT" "FILE_LIST" ${ARGN})
  configure_file("${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/goldcrest/copyright" COPYONLY)
endfunction()
include("${CURRENT_PORT_DIR}/portfile.cmake")
END
}

vcpkg_package() {
  command -v python3 > /dev/null || skip "python3 is not installed"
  local port=$source/toolchains/vcpkg bad features folder
  check_manifest "$port/vcpkg.json" || fail "vcpkg.json"
  for bad in 's/"version"/"versions"/' 's/"goldcrest"/"Goldcrest"/' 's/"fmt",/"fmt", "fmt",/' 's/"host": true/"host": "yes"/' \
    's/"linux"/"linux; rm"/' '/"description"/d' 's/"eigen3"/"z_lib"/'; do
    sed "$bad" "$port/vcpkg.json" > "$work/bad.json"
    if check_manifest "$work/bad.json" 2> /dev/null; then fail "accepted after $bad"; fi
  done
  # A tree as vcpkg makes it of its dependencies, from this machine's packages.
  mkdir -p "$work/installed/include" "$work/installed/tools/flatbuffers"
  ln -s /usr/include/flatbuffers "$work/installed/include/flatbuffers"
  ln -s "$(command -v flatc)" "$work/installed/tools/flatbuffers/flatc"
  write_stand_ins > "$work/vcpkg.cmake"
  for features in core 'core;programs'; do
    folder=$work/${features#*;}
    mkdir "$folder"
    (cd "$folder" && cmake -D CURRENT_PORT_DIR="$port" -D CURRENT_PACKAGES_DIR="$folder/package" -D CURRENT_INSTALLED_DIR="$work/installed" \
      -D CURRENT_HOST_INSTALLED_DIR="$work/installed" -D PORT=goldcrest -D VERSION="$version" -D FEATURES="$features" \
      -D OTHER_BUILD="$build" -P "$work/vcpkg.cmake") > "$folder.log" 2>&1 || { tail -40 "$folder.log" >&2; fail "the port with $features"; }
    if grep -A 5 'Manually-specified variables were not used' "$folder.log" | grep GOLDCREST_; then fail "the port sets options that are not there"; fi
    [ -f "$folder/package/share/goldcrest/copyright" ] && [ -f "$folder/package/include/goldcrest/goldcrest.h" ] &&
      [ -f "$folder/package/lib/libgoldcrest.a" ] || fail "the package with $features lacks a file"
    options=(-DCMAKE_PREFIX_PATH="$folder/package")
    [ "$features" != core ] || options+=(-DGOLDCREST_CONVERT_EXECUTABLE="$converter")
    check_consumer "$folder/consumer" "${options[@]}"
  done
  [ ! -e "$work/core/package/bin" ] && [ ! -e "$work/core/package/tools" ] || fail "programs nobody asked for"
  grep -q '^GOLDCREST_CONVERTER:BOOL=ON' "$work/programs/build/CMakeCache.txt" || fail "the programs' build has no converter"
  [ "$(ls "$work/programs/package/tools/goldcrest" | tr '\n' ' ')" = "${programs[*]} " ] || fail "other tools: $(ls "$work/programs/package/tools/goldcrest")"
  grep -q "$work/programs/package/tools/goldcrest/goldcrest-convert" "$work/programs/consumer/build.ninja" || fail "the package's converter is not used"
}

case $manager in
  conan | vcpkg) "${manager}_package" ;;
  *) fail "usage: packages.sh conan|vcpkg WORK SOURCE BUILD CONVERTER" ;;
esac
