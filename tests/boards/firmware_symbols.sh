#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that a firmware's ELF has no symbol of a heap, of streams, of exceptions or of a C library's exit.
# Usage: firmware_symbols.sh NM ELF
set -eu
nm=$1 elf=$2
symbols=$("$nm" "$elf" | awk '{print $NF}')
echo "$symbols" | grep -qx goldcrest_init || { echo "$elf: no symbol goldcrest_init; is this the firmware?" >&2; exit 2; }

# C: heap, streams, the end of a process. C++: new, delete, throw, guards of static variables.
forbidden='_?(malloc|free|calloc|realloc|memalign|aligned_alloc|sbrk)(_r)?|_?[a-z]*printf(_[a-z]+)?|f?puts|putchar|fwrite|fflush'
forbidden="$forbidden|_?exit|abort|atexit|__aeabi_atexit|_Zn[wa].*|_Zd[la].*|__cxa_.*|__gxx_personality.*|_Unwind_.*"
found=$(echo "$symbols" | grep -Ex "$forbidden" || true)
[ -z "$found" ] || { echo "$elf has" $found >&2; exit 1; }
