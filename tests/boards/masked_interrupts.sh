#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that objects have no instruction that masks interrupts, writes a special register, sleeps, or calls a
# supervisor or a debugger.
# Usage: masked_interrupts.sh OBJDUMP FILE...   FILE: an object or an archive
set -eu
objdump=$1
shift
code=$("$objdump" --disassemble --no-show-raw-insn "$@")
n_instructions=$(printf '%s\n' "$code" | grep -Ec '^ +[0-9a-f]+:' || true)
[ "$n_instructions" -gt 10 ] || { echo "$*: $n_instructions instructions; is this code?" >&2; exit 2; }

found=$(printf '%s\n' "$code" | grep -E '^ +[0-9a-f]+:\s+(cps|msr|wfi|wfe|sev|svc|bkpt|smc|hvc|csr|ecall|[msu]ret)' || true)
[ -z "$found" ] || { printf '%s has\n%s\n' "$*" "$found" >&2; exit 1; }
echo "$n_instructions instructions, none of which masks interrupts"
