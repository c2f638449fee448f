#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds one of the example firmwares and runs it in QEMU, with its console on this terminal.
# Usage: bash examples/firmware/run.sh [PROGRAM [BOARD]]
#   PROGRAM  pronounce_firmware (default), translate_firmware, superloop, benchmark_firmware
#   BOARD    mps3-an547 (Cortex-M55, default), mps2-an500 (M7), mps2-an505 (M33), mps2-an386 (M4F)
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${1:-pronounce_firmware} board=${2:-mps3-an547}

bash toolchains/install_packages.sh tests
folder=build/firmware/$board
cmake --preset "$board" -B "$folder" -D GOLDCREST_TESTS=OFF -D GOLDCREST_WERROR=OFF
cmake --build "$folder" --target "$program"
cmake --build "$folder" --target "run_$program"
