#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds by hand, without CMake: the source folder (by its Makefile, or from a list of files), an emitted model and the
# program. By the Makefile nothing is optimized, which is quick.
# Usage: build.sh SOURCE_FOLDER/Makefile|LIST MODEL_FOLDER PROGRAM_C OUTPUT COMPILER_PREFIX "FLAGS" "LINK_FLAGS"
set -euo pipefail
list=$1 model=$2 program=$3 output=$4 prefix=$5
read -r -a flags <<< "$6"
read -r -a link_flags <<< "$7"
objects=$(dirname "$output")/objects
mkdir -p "$objects"

cd "$(dirname "$list")"
library=() n=0
if [ "$(basename "$list")" = Makefile ]; then
  make -j 2 CXX="${prefix}g++" CXXFLAGS="-O0 ${flags[*]}" > /dev/null
  library=(build/libgoldcrest.a)
else
  while read -r file; do
    "${prefix}g++" -O2 "${flags[@]}" @flags.txt -c "$file" -o "$objects/$((n++)).o"
  done < "$list"
fi
"${prefix}gcc" "${flags[@]}" -c "-I$model" "$model"/model_g2p.[Sc] -Iinclude -o "$objects/model.o"
"${prefix}gcc" -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -Iinclude "-I$model" -c "$program" \
  -o "$objects/program.o"
"${prefix}gcc" "${flags[@]}" "$objects"/*.o "${library[@]}" "${link_flags[@]}" -o "$output"
