#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the tests. Usage: bash tests/run.sh [fast|full|sanitize]
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${1:-fast}
case "$suite" in
  fast) workflow=host ;;
  full | sanitize) workflow=$suite ;;
  *) echo "usage: bash tests/run.sh [fast|full|sanitize]" >&2; exit 2 ;;
esac
bash toolchains/install_packages.sh tests
cmake --workflow --preset "$workflow"
