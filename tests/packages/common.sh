# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The scripts of this folder read this file.
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# make_packages BUILD WORK: sets `build` and `work`, empties the folder WORK, and writes the packages of BUILD.
make_packages() {
  build=$(cd "$1" && pwd)
  work=$(fresh_folder "$2")
  logged "$work/packages.log" cmake --build "$build" --target goldcrest_packages
}

# The lines that each example prints.
# shellcheck disable=SC2034
words='goldcrest: G OW1 L D K R EH2 S T
bird: B ER1 D
singing: S IH1 NG IH0 NG
forest: F AO1 R AH0 S T
straightforward: S T R EY1 T F AO2 R W ER0 D'
