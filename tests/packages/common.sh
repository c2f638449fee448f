# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The scripts of this folder read this file. They set `name`, with which their messages begin.
fail() { echo "$name: $*" >&2; exit 1; }
skip() { echo "$name: skipped: $*"; exit 77; }

# make_packages BUILD WORK: sets `build` and `work`, empties the folder WORK, and writes the packages of BUILD.
make_packages() {
  build=$(cd "$1" && pwd)
  rm -rf "$2"
  mkdir -p "$2"
  work=$(cd "$2" && pwd)
  cmake --build "$build" --target goldcrest_packages > "$work/packages.log" 2>&1 || { cat "$work/packages.log" >&2; fail "no packages"; }
}

# The lines that each example prints.
# shellcheck disable=SC2034
words='goldcrest: G OW1 L D K R EH2 S T
bird: B ER1 D
singing: S IH1 NG IH0 NG
forest: F AO1 R AH0 S T
straightforward: S T R EY1 T F AO2 R W ER0 D'
