#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each of the ten claims of RELIABILITY.md has a command that the suites run too: ctest's names tests of a suite, and
# fuzz.sh or mutants.py has a test that runs it for a shorter time. `bash tests/run.sh SUITE` names a suite.
# Usage: reliability_page.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2 n=0
fail() { echo "reliability_page: $*" >&2; exit 1; }
commands=$(ctest --test-dir "$build" -N -V 2>/dev/null | sed -n 's/^[0-9]*: Test command: //p' | tr -d '"')

# names_a_test FOLDER LABELS OPTIONS...
names_a_test() {
  ctest --test-dir "$1" -N -L "^($2)\$" "${@:3}" 2>/dev/null | grep -q '^ *Test *#'
}

while read -r command; do
  n=$((n + 1))
  eval "words=($command)"
  case $command in
    'ctest --preset host '*) names_a_test "$build" fast "${words[@]:3}" ;;
    'ctest --preset full '*) names_a_test "$build" 'fast|full' "${words[@]:3}" ;;
    'ctest --preset mps'*) names_a_test "$build/tests/boards/${words[2]}" fast "${words[@]:3}" ;;
    'bash tests/run.sh '*) grep -q "^  ${words[2]}) workflow=" "$source/tests/run.sh" ;;
    *) grep -qE "${words[1]} ${words[2]/#build\/host/$build} ${words[3]/#[0-9]*/[0-9]}" <<<"$commands" ;;
  esac || fail "no suite runs: $command"
done < <(sed -n '/^- \*\*/,/^## /p' "$source/tests/RELIABILITY.md" | grep -oE '`[^`]* [^`]*`' | tr -d '`')
[ "$n" -eq 10 ] || fail "$n commands; ten are expected"
echo "reliability_page: $n commands"
