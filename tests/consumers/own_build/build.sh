#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A build by hand of the source folder, an emitted model and the program.
# Usage: build.sh SOURCE_FOLDER MODEL_FOLDER PROGRAM_C OUTPUT COMPILER_PREFIX "FLAGS" "LINK_FLAGS"
set -euo pipefail
sources=$1 model=$2 program=$3 output=$4 prefix=$5
read -r -a flags <<< "$6"
read -r -a link_flags <<< "$7"
objects=$(dirname "$output")/objects
mkdir -p "$objects"

cd "$sources"
n=0
while read -r file; do
  "${prefix}g++" -O2 "${flags[@]}" @flags.txt -c "$file" -o "$objects/$((n++)).o"
done < sources.txt
"${prefix}gcc" "${flags[@]}" -c "-I$model" "$model"/model_g2p.[Sc] -Iinclude -o "$objects/model.o"
"${prefix}gcc" -O2 -std=c11 -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -Iinclude "-I$model" -c "$program" -o "$objects/program.o"
"${prefix}gcc" "${flags[@]}" "$objects"/*.o "${link_flags[@]}" -o "$output"
