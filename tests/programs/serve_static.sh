#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the static server for a machine. Its texts must be this machine's programs' (serve_clients.py); servers for Arm
# run under qemu-user.
# Usage: serve_static.sh amd64|arm64|armhf WORK_FOLDER BUILD_FOLDER PYTHON
set -euo pipefail
machine=$1 work=$2 build=$3 python=$4
cd "$(dirname "$0")/../.."
case $machine in
  amd64) preset=release tools=(g++) emulator='' ;;
  arm64) preset=raspberry-pi tools=(aarch64-linux-gnu-g++ qemu-aarch64) emulator='qemu-aarch64 -cpu cortex-a72' ;;
  armhf) preset=raspberry-pi-32 tools=(arm-linux-gnueabihf-g++ qemu-arm) emulator='qemu-arm -cpu cortex-a15' ;;
esac
for tool in "${tools[@]}"; do command -v $tool > /dev/null || { echo "serve_static.sh: skipped, needs $tool"; exit 77; }; done
mkdir -p "$work/bin"
if [ $machine != amd64 ]; then
  export GOLDCREST_SYSROOT=$work/sysroot  # with libevent
  bash toolchains/sysroot.sh "$GOLDCREST_SYSROOT" $machine converter || { echo "serve_static.sh: skipped, no libevent"; exit 77; }
fi
cmake --preset $preset -B "$work" -D "CMAKE_PREFIX_PATH=${GOLDCREST_SYSROOT:-}/usr" -D "CMAKE_RUNTIME_OUTPUT_DIRECTORY=$work/static" > "$work/log"
cmake --build "$work" --target goldcrest-serve > "$work/log" || { cat "$work/log"; exit 1; }
if readelf -l "$work/static/goldcrest-serve" | grep INTERP; then echo "serve_static.sh: it is not static" >&2; exit 1; fi
ln -sf "$build/examples/goldcrest-transcribe" "$build/examples/goldcrest-translate" "$work/static/goldcrest-serve" "$work/bin"
if [ -n "$emulator" ]; then
  rm "$work/bin/goldcrest-serve"
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$work/static/goldcrest-serve" > "$work/bin/goldcrest-serve"
  chmod +x "$work/bin/goldcrest-serve"
fi
"$python" tests/programs/serve_clients.py . "$work/bin" "$build/converter/goldcrest-convert"
