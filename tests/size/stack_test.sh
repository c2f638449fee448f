#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The worst-case stack by the call graphs of OBJECTS, at most GOLDCREST_STACK_BYTES, and no less than what COMMAND (none
# where the board has no emulator) measured.
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
