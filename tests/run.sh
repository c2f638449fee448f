#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the tests. Usage: bash tests/run.sh [fast|full|sanitize|arm]
# arm: the Arm kernel tables under an emulator, against each other and against this machine's hashes.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1:-fast}
case "$suite" in
  fast) workflow=host ;;
  full | sanitize) workflow=$suite ;;
  arm) workflow=aarch64 ;;
  *) echo "usage: bash tests/run.sh [fast|full|sanitize|arm]" >&2; exit 2 ;;
esac
bash toolchains/install_packages.sh tests
if [ "$suite" = arm ]; then
  bash toolchains/install_packages.sh arm
  cmake --preset host
  cmake --build --preset host --target goldcrest-convert golden_hash
  ctest --preset host -R '^golden_'
  cmake --workflow --preset armv7
fi
cmake --workflow --preset "$workflow"
if [ "$suite" = full ]; then
  bash tests/xnnpack.sh
fi
