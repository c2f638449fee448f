#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the XNNPACK backend with Debian 13's library on a machine whose own library is too old. Runs here, and for both
# Arm architectures under Debian 13's emulator. Needs the models of the host preset's tests. Downloads packages once,
# into build/.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! grep -q '^ID=debian$' /etc/os-release || [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "xnnpack.sh: skipped: the packages and the emulators are for Debian on amd64"
  exit 0
fi
bash toolchains/install_packages.sh arm
if ! ls build/host/tests/kernels/golden/{enfr,g2p}.gcst > /dev/null 2>&1; then
  cmake --preset host
  cmake --build --preset host --target goldcrest-convert golden_{hash,inspection,speech} make_golden_checkpoint
  ctest --preset host -R '^golden_'
fi
for pair in amd64:xnnpack arm64:xnnpack-aarch64 armhf:xnnpack-armv7; do
  bash toolchains/sysroot.sh "build/xnnpack_sysroots/${pair%%:*}" "${pair%%:*}" xnnpack
  cmake --workflow --preset "${pair##*:}"
done
