#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing packages, builds the programs into build/bin, converts the shipped English-French checkpoint and
# translates with it.
set -euo pipefail
[ $# -eq 0 ] || { sed -n 's/^# \([Iat]\)/\1/p' "$0"; [ "$1" = --help ]; exit; }
cd "$(dirname "$0")/.."

bash toolchains/install_packages.sh
programs=(converter/goldcrest-convert converter/goldcrest-inspect examples/goldcrest-transcribe
  examples/goldcrest-translate examples/goldcrest-serve)
echo "Compiling: about a minute on two cores of 2.6 GHz."
cmake --preset quickstart | sed -n 's/^-- \(XNNPACK backend: .*\)$/\1/p'  # one line: on, or off and why
NINJA_STATUS='compiling, step %f of %t, %e s: ' cmake --build --preset quickstart --target "${programs[@]##*/}"
mkdir -p build/bin
for program in "${programs[@]}"; do ln -sfn "../quickstart/$program" build/bin/; done
build/bin/goldcrest-convert examples/models/enfr -o build/enfr.gcst
build/bin/goldcrest-inspect build/enfr.gcst --self-test

sentences=("Where is the station?" "I don't know what to do." "She bought a new car yesterday."
  "Can you help me, please?")
printf '%s\n' '' "${sentences[@]}" ''
printf '%s\n' "${sentences[@]}" | build/bin/goldcrest-translate build/enfr.gcst --stats

# A line of several sentences is translated sentence by sentence.
paragraph="Where is the station? I don't know what to do. Can you help me, please? I'm hungry. Let's go home."
echo
echo "$paragraph"
echo
echo "$paragraph" | build/bin/goldcrest-translate build/enfr.gcst
