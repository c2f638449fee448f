#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the source folder by the line of its own page for machines without an operating system. Compares the functions
# in the objects with those of CMake's library for the same CPU, since sources of one name would overwrite an object.
# Usage: source_folder_page.sh SOURCE BUILD WORK
#   BUILD   a build of SOURCE for this machine
set -euo pipefail
. "$(dirname "$0")/../common.sh"
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) work=$(fresh_folder "$3")
cmake --build "$build" --target goldcrest_source_folder > /dev/null
cp -r "$build/goldcrest_sources" "$work/sources"

# Prints the functions that objects or an archive define, except inline ones, which depend on the optimizer.
functions_of() { arm-none-eabi-nm --defined-only "$@" | awk '$2 == "T" { print $3 }' | sort -u; }

cd "$work/sources"
sed -n 's/^    \(for file in .*\)$/\1/p' README.md > "$work/commands"
[ "$(wc -l < "$work/commands")" -eq 1 ] || fail "expected one loop on the page, found: $(cat "$work/commands")"
bash -euo pipefail "$work/commands" || fail "the page's line failed: $(cat "$work/commands")"
functions_of ./*.o > "$work/page"

cmake_build "$work/library" goldcrest -S "$source" -DCMAKE_BUILD_TYPE=Release -DGOLDCREST_TESTS=OFF \
  -DCMAKE_TOOLCHAIN_FILE="$source/toolchains/arm-none-eabi-cortex-m7.cmake"
functions_of "$work/library/engine/libgoldcrest.a" > "$work/cmake"

grep -qx goldcrest_translate "$work/cmake" || fail "CMake's library has no goldcrest_translate"
missing=$(comm -13 "$work/page" "$work/cmake")
[ -z "$missing" ] || fail "these functions of CMake's library are not in the page's objects: $missing"
echo "source_folder_page.sh: $(grep -c '^goldcrest_' "$work/cmake") public functions, $(wc -l < "$work/cmake") in all"
