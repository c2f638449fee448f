#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session at a firmware's console: types its lines and compares the output and the exit status with what is expected.
# The expected text has BOARD, TABLE and N for parts that differ from board to board or from run to run.
# Usage: console_session.sh SESSION BOARD COMMAND...
# Types SESSION.input if it exists, else the lines that SESSION.expected shows after the prompt "> ".
set -eu
session=$1 board=$2
shift 2

typed() {
  if [ -f "$session.input" ]; then cat "$session.input"; else sed -n 's/^> \(.\)/\1/p' "$session.expected"; fi
  printf '\004'
}
mask() {
  sed -E -e "s/on $board,/on BOARD,/" -e 's/kernels [a-z0-9_]+/kernels TABLE/' -e 's/ +[0-9]+ +[0-9]+$/ N N/' \
    -e 's/(Model|arena) [0-9]+ bytes/\1 N bytes/g' -e 's/[0-9]+ (ticks|ms|us)/N \1/g' \
    -e "/^\{/s/\"$board\"/\"BOARD\"/" -e '/^\{/s/"(kernels|cpu|compiler)":"[^"]*"/"\1":"X"/g' \
    -e '/^\{/s/"(file_bytes|arena_bytes|ticks_per_second|ticks|token_ticks)":[0-9]+/"\1":N/g'
}
{ typed | "$@" || echo "status $?"; } | mask | diff -u "$session.expected" -
