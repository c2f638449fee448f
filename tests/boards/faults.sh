#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all flips of fault_test, past those that end it, and prints the table of tests/RELIABILITY.md. Fails if
# goldcrest_init or the slices miss a flip of the model, or if a flip of the arena outlasts its search.
# Usage: faults.sh OUTPUT COMMAND...
set -euo pipefail
output=$1
shift
: >"$output"
next=0 ends=0
until grep -q '^all flips are reported' "$output"; do
  status=0
  printf '%s\n\004' "$next" | timeout 300 "$@" >"$output.run" || status=$?
  grep -E '^(flip|all flips)' "$output.run" >>"$output" || true
  if [ "$status" -eq 0 ] && grep -q '^all flips' "$output.run"; then continue; fi
  # The flip that ended the program is the one whose line has begun.
  last=$(sed -n '/^flip/h; ${x;p}' "$output.run")
  [ "$status" -ne 0 ] && [ -n "$last" ] && [ $((ends += 1)) -lt 300 ] || { tail -n 5 "$output.run" >&2; exit 1; }
  read -r _ next _ <<<"$last"
  kind=fault
  [ "$status" -ne 99 ] && [ "$status" -ne 124 ] || kind=watchdog
  sed -i -E "s/^(flip $next [a-z]+ [a-z]+ [0-9]+).*$/\1 $kind - - -/" "$output"
  next=$((next + 1))
done

awk '
  $1 != "flip" { next }
  { r = $3; if (!(r in n)) order[++regions] = r
    ++n[r]; by_init[r] += $4 == "found"; ended[r] += $6 ~ /^(fault|watchdog)$/; other[r] += $6 ~ /^(other|error)$/
    later[r] += $7 ~ /^(wrong|error)$/; by_self_test[r] += $8 == "found"; by_canary[r] += $9 == "found" }
  $5 > 0 { ++by_slices[r]; sum[r] += $5; if ($5 > most[r]) most[r] = $5 }
  END {
    printf "| region | flips | init | slices: found, mean, most "
    print "| self-test | canaries | faults | other result | next wrong |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for (i = 1; i <= regions; ++i) {
      r = order[i]
      slices = by_slices[r] ? sprintf("%d, %.0f, %d", by_slices[r], sum[r] / by_slices[r], most[r]) : "0"
      printf "| %s | %d | %d | %s | %d | %d | %d | %d | %d |\n", r, n[r], by_init[r], slices, by_self_test[r],
             by_canary[r], ended[r], other[r], later[r]
      in_model = r ~ /^(metadata|weights|parameters|positions|tokenizer|trailer)$/
      missed = in_model && (by_init[r] != n[r] || by_slices[r] != n[r])
      outlasts = !in_model && r != "engine" && later[r] > 0
      if (missed) print "a flip of the model is not found: " r
      if (outlasts) print "a flip outlasts its search: " r
      bad = bad || missed || outlasts
    }
    exit bad || regions != 14
  }' "$output"
