#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the thousands of instructions that x86_avx2 takes for a position of four hypotheses, as callgrind counts them.
# Subtracts those of 16 positions from those of 48, after 16 source tokens.
# Usage: bash tests/peers/instructions.sh BENCH MODEL.gcst. Status 77: there is no valgrind.
set -euo pipefail
[ $# -eq 2 ] || { sed -n 's/^# \(Usage: .*\)/\1/p' "$0" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "instructions.sh: needs valgrind" >&2; exit 77; }

# Counts the instructions of a search of this many positions.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null --collect-atstart=no '--toggle-collect=goldcrest_run' "$1" "$2" \
    --kernels x86_avx2 --measure speed --beam 4 --batch 1 --source 16 --target "$3" --repetitions 1 --warm-ups 0 \
    --seconds 0 2>&1 | sed -n 's/.*Collected : //p'
}

long=$(count "$1" "$2" 48)
short=$(count "$1" "$2" 16)
[ -n "$long" ] && [ -n "$short" ] || { echo "instructions.sh: valgrind or the bench failed" >&2; exit 1; }
awk -v n="$((long - short))" 'BEGIN { printf "%.1f thousand instructions a position\n", n / 32000 }'
