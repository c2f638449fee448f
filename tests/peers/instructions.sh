#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the thousands of instructions that x86_avx2 takes for a position of four hypotheses, as callgrind counts them.
# Subtracts those of 16 positions from those of 48, after 16 source tokens. With a second program, goldcrest-translate,
# prints what options cost instead, as ratios: sampling (top_k 50) of greedy search, a prefix of 20 tokens of
# generating them, and --stream of printing at the end. Status 1: a ratio is above 1.06, 0.65 or 1.01.
# Usage: bash tests/peers/instructions.sh BENCH MODEL.gcst [TRANSLATE]. Status 77: there is no valgrind.
set -euo pipefail
. "$(dirname "$0")/../common.sh"
[ $# -eq 2 ] || [ $# -eq 3 ] || { sed -n 's/^# \(Usage: .*\)/\1/p' "$0" >&2; exit 2; }
needs valgrind
callgrind=(valgrind --tool=callgrind --callgrind-out-file=/dev/null)

# Counts all instructions of a translation of a line into N tokens: translate LINE N OPTION...
translate() {
  echo "$1" | "${callgrind[@]}" "$program" "$model" --kernels x86_avx2 --structure-only --min-target "$2" \
    --max-target "$2" "${@:3}" 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
}

# Prints (a - b) / (c - d) and fails if it is above the limit: ratio WHAT LIMIT A B C D
ratio() {
  awk -v what="$1" -v most="$2" -v a="$3" -v b="$4" -v c="$5" -v d="$6" \
    'BEGIN { r = (a - b) / (c - d); printf "%-40s %.4f (limit %s)\n", what, r, most; exit !(c > d && r <= most) }'
}

if [ $# -eq 3 ]; then
  program=$3 model=$2 failed=0
  source='11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 0' text='We went to the market and bought some bread.'
  prefix='10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29'
  search='--ids --beam-size 1'
  # shellcheck disable=SC2086  # several words
  short=$(translate "$source" 2 $search) greedy=$(translate "$source" 22 $search) long=$(translate "$source" 42 $search)
  sample='--ids --sample --top-k 50'
  # shellcheck disable=SC2086  # several words
  sampled=$(translate "$source" 42 $sample) sampled_short=$(translate "$source" 2 $sample)
  # shellcheck disable=SC2086
  prefixed=$(translate "$source" 22 $search --prefix-ids "$prefix" --prefix-in-lengths)
  ratio "sampling, top_k 50, of greedy search" 1.06 "$sampled" "$sampled_short" "$long" "$short" || failed=1
  ratio "a prefix of 20 tokens of generating them" 0.65 "$prefixed" "$short" "$greedy" "$short" || failed=1
  ratio "--stream of printing at the end" 1.01 "$(translate "$text" 42 --beam-size 1 --stream)" 0 \
    "$(translate "$text" 42 --beam-size 1)" 0 || failed=1
  exit "$failed"
fi

# Counts the instructions of a search of this many positions.
count() {
  "${callgrind[@]}" --collect-atstart=no --toggle-collect=goldcrest_run "$1" "$2" --kernels x86_avx2 --measure speed \
    --beam-size 4 --batch 1 --source 16 --target "$3" --repetitions 1 --warm-ups 0 --seconds 0 2>&1 |
    sed -n 's/.*Collected : //p'
}

long=$(count "$1" "$2" 48)
short=$(count "$1" "$2" 16)
[ -n "$long" ] && [ -n "$short" ] || fail "valgrind or the bench failed"
awk -v n="$((long - short))" 'BEGIN { printf "%.1f thousand instructions a position\n", n / 32000 }'
