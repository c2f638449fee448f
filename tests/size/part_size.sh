#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A part of the engine takes at most BYTES of flash, and none in a firmware that does not call its FUNCTION.
# Usage: part_size.sh NM BYTES FUNCTION "SOURCE.cc ..." ELF OBJECT...
set -eu
nm=$1 most=$2 function=$3 sources=$4 elf=$5
shift 5
if "$nm" "$elf" | grep "$function"; then echo "$elf: has what it does not call" >&2; exit 1; fi
bytes=0
for source in $sources; do
  found=0
  for object; do
    case $object in */"$source".*) ;; *) continue ;; esac
    found=$((found + 1))
    for size in $("$nm" --print-size --radix=d --defined-only "$object" | awk 'NF == 4 { print $2 + 0 }'); do
      bytes=$((bytes + (size + 3) / 4 * 4))
    done
  done
  [ "$found" -eq 1 ] || { echo "found $found objects of $source" >&2; exit 2; }
done
echo "$sources: $bytes bytes of at most $most"
[ "$bytes" -le "$most" ]
