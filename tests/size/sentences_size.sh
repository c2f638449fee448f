#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cutting of texts into sentences takes at most BYTES of flash, and none in a firmware that does not call it.
# Usage: sentences_size.sh NM BYTES ELF OBJECT...
set -eu
nm=$1 most=$2 elf=$3
shift 3
if "$nm" "$elf" | grep -q goldcrest_next_part; then
  echo "$elf: has goldcrest_next_part, which it does not call" >&2
  exit 1
fi
bytes=0 found=0
for object; do
  case $object in */text/sentences.cc.* | */text/characters.cc.*) ;; *) continue ;; esac
  found=$((found + 1))
  for size in $("$nm" --print-size --radix=d --defined-only "$object" | awk 'NF == 4 { print $2 + 0 }'); do
    bytes=$((bytes + (size + 3) / 4 * 4))
  done
done
[ "$found" -eq 2 ] || { echo "found $found of the two objects of sentences" >&2; exit 2; }
echo "sentences: $bytes bytes of at most $most"
[ "$bytes" -le "$most" ]
