#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything once: installs what is missing, builds, converts the shipped English-French checkpoint, translates with it.
set -euo pipefail
cd "$(dirname "$0")/.."

bash toolchains/install_packages.sh
cmake --preset quickstart
cmake --build --preset quickstart
programs=build/quickstart
"$programs/converter/goldcrest-convert" examples/models/enfr -o build/enfr.gcst
"$programs/examples/goldcrest-inspect" build/enfr.gcst --self-test

sentences=("Where is the station?" "I don't know what to do." "She bought a new car yesterday." "Can you help me, please?")
echo
printf '%s\n' "${sentences[@]}"
echo
printf '%s\n' "${sentences[@]}" | "$programs/examples/goldcrest-translate" build/enfr.gcst --stats
