#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the code of firmware. A firmware's ELF has no symbol of a heap, of streams, of exceptions or of a C library's
# exit. Objects have no instruction that masks interrupts, writes a special register, sleeps, or calls a supervisor or a
# debugger.
# Usage: firmware_code.sh symbols NM ELF
#        firmware_code.sh interrupts OBJDUMP FILE...   FILE: an object or an archive
set -eu
check=$1 tool=$2
shift 2
case $check in
  symbols)
    symbols=$("$tool" "$1" | awk '{print $NF}')
    echo "$symbols" | grep -qx goldcrest_init || { echo "$1: no goldcrest_init; is this the firmware?" >&2; exit 2; }
    # C: heap, streams, the end of a process. C++: new, delete, throw, guards of static variables.
    forbidden='_?(malloc|free|calloc|realloc|memalign|aligned_alloc|sbrk)(_r)?|_?[a-z]*printf(_[a-z]+)?|f?puts|putchar'
    forbidden="$forbidden|fwrite|fflush|_?exit|abort|atexit|__aeabi_atexit"
    forbidden="$forbidden|_Zn[wa].*|_Zd[la].*|__cxa_.*|__gxx_personality.*|_Unwind_.*"
    found=$(echo "$symbols" | grep -Ex "$forbidden" || true)
    [ -z "$found" ] || { echo "$1 has" $found >&2; exit 1; } ;;
  interrupts)
    code=$("$tool" --disassemble --no-show-raw-insn "$@") address='^ +[0-9a-f]+:'
    n_instructions=$(printf '%s\n' "$code" | grep -Ec "$address" || true)
    [ "$n_instructions" -gt 10 ] || { echo "$*: $n_instructions instructions; is this code?" >&2; exit 2; }
    masks='cps|msr|wfi|wfe|sev|svc|bkpt|smc|hvc|csr|ecall|[msu]ret'
    found=$(printf '%s\n' "$code" | grep -E "$address\s+($masks)" || true)
    [ -z "$found" ] || { printf '%s has\n%s\n' "$*" "$found" >&2; exit 1; }
    echo "$n_instructions instructions, none of which masks interrupts" ;;
  *) echo "firmware_code.sh: no check $check" >&2; exit 2 ;;
esac
