#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the worst-case stack by the call graphs of OBJECTS. It must be at most GOLDCREST_STACK_BYTES, and at least what
# COMMAND measured (no COMMAND if the board has no emulator).
# Usage: stack_test.sh STACK_DEPTH SOURCE_FOLDER OUTPUT OBJECT... -- [COMMAND...]
set -euo pipefail
stack_depth=$1 source=$2 output=$3
shift 3
graphs=()
while [ "$1" != -- ]; do
  graphs+=("${1%.*}.ci")
  shift
done
shift

limit=$(awk '$2 == "GOLDCREST_STACK_BYTES" { print $3 }' "$source/engine/include/goldcrest/goldcrest.h")
measured=-
if [ $# -gt 0 ]; then
  measured=$output
  "$@" > "$output" || { cat "$output"; exit 1; }
fi
"$stack_depth" "$limit" "$source/tests/size/stack_rules.txt" "$measured" "${graphs[@]}"
