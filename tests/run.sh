#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the tests. Usage: bash tests/run.sh [fast|full|sanitize|arm|lint]
# arm: the Arm kernel tables under an emulator, compared with each other and with this machine's hashes.
# lint: findings of clang-format, clang-tidy and cppcheck (tests/lint.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1:-fast}
case "$suite" in
  fast) workflow=host ;;
  full | sanitize) workflow=$suite ;;
  arm) workflow=aarch64 ;;
  lint) ;;
  *) echo "usage: bash tests/run.sh [fast|full|sanitize|arm|lint]" >&2; exit 2 ;;
esac
bash toolchains/install_packages.sh tests
if [[ "$suite" =~ ^(lint|full|arm)$ ]]; then bash toolchains/install_packages.sh "$suite"; fi
if [ "$suite" = lint ]; then exec bash tests/lint.sh; fi
if [ "$suite" = arm ]; then
  cmake --preset host
  cmake --build --preset host --target goldcrest-convert golden_{hash,inspection,speech} make_golden_checkpoint
  ctest --preset host -R '^golden_'
  cmake --workflow --preset armv7
fi
if [ "$suite" = fast ]; then
  # The converter as the quickstart builds it; an option that only the compiler's time depends on.
  cmake --preset host -DGOLDCREST_QUICK_BUILD=ON
  cmake --build --preset host
  exec ctest --preset host
fi
cmake --workflow --preset "$workflow"
if [ "$suite" = full ]; then
  case "$(uname -m)" in
    x86_64 | i?86) cmake --workflow --preset i686 ;;
    *) echo "run.sh: the suites for 32-bit x86 are skipped: this machine does not run it" ;;
  esac
  # Not on every distribution.
  if command -v riscv64-linux-gnu-g++ > /dev/null && command -v qemu-riscv64 > /dev/null; then
    cmake --workflow --preset riscv64
  else
    echo "run.sh: the suites for 64-bit RISC-V are skipped: no riscv64-linux-gnu-g++ or qemu-riscv64"
  fi
  bash tests/xnnpack.sh
fi
